seen, different = set(), []
for row in rows:
    key = tuple(row.values())
    if key not in seen:
        seen.add(key)
        different.append(row)
repeated = len(rows) - len(different)
is_asked = __DROP__  # whether the step asks to remove repeated rows
if is_asked and repeated:
    rows = different
    notes.append(f"{repeated} rows that repeat an earlier row were removed, as the step asks.")
    print(notes[-1])
else:
    print(f"{repeated} rows repeat an earlier row." + (" They are kept: they can be separate events that look the same." if repeated else ""))
missing = {name: len(rows) - len(present(name)) for name in columns}
missing = {name: count for name, count in missing.items() if count}
print("Missing values are not filled in; each figure leaves out the rows that it cannot use.")
print("missing: " + (", ".join(f"{name} {count} of {len(rows)}" for name, count in missing.items()) or "none"))
if __FILL__:
    notes.append("A step asks to fill in missing values. They are left out instead, because filled-in values falsify figures.")
cleaned = pd.DataFrame(rows) if globals().get("pd") else rows
