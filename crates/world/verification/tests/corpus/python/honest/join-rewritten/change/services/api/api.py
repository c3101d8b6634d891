"""Joins parts of a path."""


def join(*parts):
    cleaned = (part.strip("/") for part in parts)
    return "/" + "/".join(filter(None, cleaned))
