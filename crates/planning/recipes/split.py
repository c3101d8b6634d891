import random

table = cleaned if "cleaned" in globals() else data
rows = table.to_dict("records") if hasattr(table, "to_dict") else table
names = [name for name in globals().get("number_columns", rows[0] if rows else {}) if all(isinstance(row[name], (int, float)) for row in rows)]
if len(names) < 2:
    raise ValueError("a comparison of models needs two columns of numbers")
wanted = [name for name in names if name == globals().get("target") or name.lower() in ("target", "price", "y", "label", "value")]
target = globals().get("target") if globals().get("target") in wanted else (wanted + names[-1:])[0]
features = [name for name in names if name != target]
features = [name for name in features if name in globals().get("other_columns", [])] or features
shuffled = list(rows)
random.Random(7).shuffle(shuffled)
cut = max(1, len(shuffled) * 3 // 4)
train, test = shuffled[:cut], shuffled[cut:]
print(f"target {target}, features {', '.join(features)}: {len(train)} rows to learn from, {len(test)} to test with")
