class Findings(list):
    """Sentences that a notebook shows as a list."""

    def _repr_markdown_(self):
        return "\n".join(f"- {one}" for one in self)

    __repr__ = _repr_markdown_


def correlation(rows, one, other):
    """Return Pearson's correlation of two columns over the rows that have both; 0 if there is none."""
    pairs = [(row[one], row[other]) for row in rows]
    pairs = [pair for pair in pairs if all(isinstance(x, (int, float)) and x == x for x in pair)]
    count = len(pairs) or 1
    x, y = sum(a for a, _ in pairs) / count, sum(b for _, b in pairs) / count
    spread = (sum((a - x) ** 2 for a, _ in pairs) * sum((b - y) ** 2 for _, b in pairs)) ** 0.5
    return sum((a - x) * (b - y) for a, b in pairs) / spread if spread else 0.0


def conclude():
    table = cleaned if "cleaned" in globals() else data
    rows = table.to_dict("records") if hasattr(table, "to_dict") else table
    found = Findings(globals().get("answers", []))
    found.append(f"The table has {len(rows)} rows and {len(rows[0]) if rows else 0} columns.")
    names = [name for name in globals().get("number_columns", rows[0] if rows else {}) if any(isinstance(row[name], (int, float)) for row in rows)]
    if len(found) == 1:
        for name in names[:6]:
            values = [row[name] for row in rows if isinstance(row[name], (int, float)) and row[name] == row[name]]
            found.append(f"{name}: from {min(values):g} to {max(values):g}, {sum(values) / len(values):.3g} on average.")
    pairs = [(one, other) for at, one in enumerate(names) for other in names[at + 1 :]]
    if pairs:
        one, other = max(pairs, key=lambda pair: abs(correlation(rows, *pair)))
        found.append(f"The strongest correlation is between {one} and {other}: {correlation(rows, one, other):.2f}.")
    if "trend" in globals() and "answers" not in globals():
        found.append(f"Trend: {trend['direction']} by {trend['slope']:.3g} per period.")
    if "forecast" in globals() and "answers" not in globals():
        found.append(f"Next period: {forecast['next']:.4g} (error of the method in the past: {forecast['error']:.3g}).")
    if "scores" in globals() and "answers" not in globals():
        best = min(scores, key=scores.get)
        found.append(f"The best model is {best} with a mean absolute error of {scores[best]:.4g}.")
    for step, goal in globals().get("steps_not_done", {}).items():
        found.append(f"Not done: step {step}{f' ({goal})' if goal else ''}. The built-in rules do not know it.")
    return found


conclusions = conclude()
conclusions
