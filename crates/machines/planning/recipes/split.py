import random

numbers = [name for name in columns if columns[name] == "number"]
wanted = [name for name in [globals().get("target"), *numbers] if name in numbers and (name == globals().get("target") or name.lower() in ("target", "price", "y", "label", "value"))]
target = (wanted or numbers[-1:] or [None])[0]
features = [name for name in numbers if name != target]
features = [name for name in features if name in globals().get("other_columns", [])] or features
split_notes = []
sparse = [name for name in features if len(present(name)) < len(rows) / 2]
if sparse and len(sparse) < len(features):
    features = [name for name in features if name not in sparse]
    split_notes.append(f"Not used, because more than half of the values are missing: {', '.join(sparse)}.")
complete = [row for row in rows if all(row[name] is not None for name in [target, *features])] if target else []
if len(complete) < len(rows):
    split_notes.append(f"{len(rows) - len(complete)} of {len(rows)} rows are left out, because {target} or a feature is missing.")
if not features or len(complete) < 8:
    not_done(__STEP__, f"models need two columns of numbers and eight rows that have both; here are {len(numbers)} such columns and {len(complete)} such rows")
else:
    random.Random(7).shuffle(complete)
    cut = len(complete) * 3 // 4
    train, test = complete[:cut], complete[cut:]
    if len(test) > 500:
        split_notes.append(f"The models are tested with 500 of the {len(test)} rows set aside, chosen at random.")
        test = test[:500]
    print(f"target {target}, features {', '.join(features)}: {len(train)} rows to learn from, {len(test)} to test with")
print("\n".join(split_notes))
