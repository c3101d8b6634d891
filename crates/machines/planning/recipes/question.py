for name in ("answers", "answered", "conclusions", "series", "trend", "forecast", "train", "models", "scores"):
    globals().pop(name, None)  # of an earlier problem
if globals().get("problem_id", __ID__) != __ID__:
    globals().pop("figures", None)
problem_id = __ID__
question = __QUESTION__
target = __TARGET__
other_columns = __OTHERS__
group_column = __GROUP__
named_values = __VALUES__
date_column = __DATE__
period = __PERIOD__
figures_asked = __FIGURES__
not_answered = __REASON__
print("the problem names:", ", ".join(__NAMED__) or "no column")
reading = __READING__
print(reading)
