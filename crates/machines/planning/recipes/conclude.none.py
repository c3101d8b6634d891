conclusions = [no_table]
for step, goal in globals().get("steps_not_done", {}).items():
    conclusions.append(f"Not done: step {step}{f' ({goal})' if goal else ''}.")
conclusions += [f"Failed: step {step} ({error})." for step, error in __FAILED__.items()]
print("\n".join(conclusions))
