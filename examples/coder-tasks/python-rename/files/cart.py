def tot(prices):
    return sum(prices)
