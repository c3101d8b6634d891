import re
import sys

bad = 0
for number, line in enumerate(open('stats.py'), 1):
    if len(line) > 100 and 'noqa' not in line:
        print('line', number, 'is too long')
        bad = 1
sys.exit(bad)
