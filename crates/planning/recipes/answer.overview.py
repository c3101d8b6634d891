def answer():
    table = cleaned if "cleaned" in globals() else data
    rows = table.to_dict("records") if hasattr(table, "to_dict") else table
    names = list(rows[0]) if rows else []
    answers = [f"The figures describe the table as a whole: {len(rows)} rows with {', '.join(map(str, names))}."]
    if question == "overview":
        answers.insert(0, "The problem names no column of the table, so it cannot be answered by these rules alone.")
    for name in names[:12]:
        present = [row[name] for row in rows if row[name] is not None and row[name] == row[name]]
        kinds = sorted(set(map(str, present)))
        if present and all(isinstance(one, (int, float)) for one in present):
            if columns[str(name)] == "identifier":
                continue
            answers.append(f"{name} is {sum(present) / len(present):.4g} on average, from {min(present):g} to {max(present):g}.")
        elif len(kinds) <= len(present) / 4:
            common = max(kinds, key=[str(one) for one in present].count)
            answers.append(f"{name} has {len(kinds)} values; the most common is {common}.")
    return answers


answers = answer()
print("\n".join(answers))
