from calc import mean, total

assert total([1, 2]) == 3
assert mean([1, 2]) == 1.5, mean([1, 2])
print("fine")
