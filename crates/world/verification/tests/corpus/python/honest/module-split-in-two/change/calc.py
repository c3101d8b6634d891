from first import old


def mean(items):
    return sum(items) / len(items)


__all__ = ["mean", "old"]
