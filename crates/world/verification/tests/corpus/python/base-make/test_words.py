import words

assert words.count("a b  c") == 3
assert words.count("") == 0
assert words.longest("one three two") == "three"
print("3 checks passed")
