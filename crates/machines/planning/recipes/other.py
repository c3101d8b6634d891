steps_not_done = {**globals().get("steps_not_done", {}), __STEP__: __GOAL__}
print("Not done:", __STEP__)
