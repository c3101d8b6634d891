"""Joins parts of a path."""


def join(*parts):
    return "/" + "/".join(part.strip("/") for part in parts if part.strip("/"))
