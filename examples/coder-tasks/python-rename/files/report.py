from cart import tot


def line(prices):
    return f'total {tot(prices)}'
