"""Joins parts of a path."""


def join(*parts):
    return "/" + "/".join(parts)
