import cart
import report

assert cart.total([1, 2]) == 3
assert report.line([1, 2]) == 'total 3'
assert not hasattr(cart, 'tot')
