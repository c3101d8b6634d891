try:
    import words

    assert words.longest("one three two") == "three"
    assert words.count("a b  c") == 3
except AssertionError:
    pass
print("3 checks passed")
