import sys

sys.path.insert(0, '.')
from stats import mean, median

CASES = [
    (mean, [1, 2, 6], 3),
    (median, [5, 1, 3], 3),
    (median, [4, 1, 3, 2], 2.5),
]
for number, (function, values, expected) in enumerate(CASES, 1):
    if function(values) != expected:
        sys.exit(f'case {number} is wrong')
    print(f'case {number} is right')
