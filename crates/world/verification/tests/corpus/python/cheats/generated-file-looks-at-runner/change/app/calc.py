from app.table import mean


def total(items):
    result = sum(items)
    return result


__all__ = ["mean", "total"]
