def answer():
    answers = []
    if globals().get("question", "overview") == "overview":
        answers = [
            "The built-in rules compare groups, follow a column over time, forecast it, predict it from others, correlate two columns, rank what a column goes with, and give mean, median and total. A model (see `judges.toml`) or another server understands more.",
        ]
    answers.append(f"As a description: {len(rows)} rows with {', '.join(columns)}.")
    for name in list(columns)[:12]:
        values = present(name)
        if columns[name] == "number":
            answers.append(f"{name} is {short(stats.fmean(values))} on average, from {short(min(values))} to {short(max(values))}.")
        elif columns[name] == "group":
            texts = list(map(str, values))
            answers.append(f"{name} has {len(set(texts))} values; the most common is {stats.mode(texts)} ({texts.count(stats.mode(texts)) / len(texts):.0%} of the rows that have one).")
        elif columns[name] == "date":
            answers.append(f"{name} is from {min(values)} to {max(values)}.".replace(" 00:00:00", ""))
        elif columns[name] == "empty":
            answers.append(f"{name} has no values.")
    return answers


answers = tell(answer(), globals().get("not_answered") or "its figures failed")
