"""Joins parts of a path."""


def join(*parts, trailing=False):
    """Joins parts with one slash; `trailing` adds one at the end."""
    path = "/" + "/".join(part.strip("/") for part in parts if part.strip("/"))
    return path + "/" if trailing and path != "/" else path
