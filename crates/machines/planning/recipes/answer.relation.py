def answer():
    other = other_columns[0]
    points = [(row[other], row[target]) for row in rows if row[other] is not None and row[target] is not None]
    x, y = ([stats.fmean(part) for part in zip(*points)]) if points else (0, 0)
    across, up = sum((a - x) ** 2 for a, _ in points), sum((b - y) ** 2 for _, b in points)
    if len(points) < 4 or not across or not up:
        return None
    together = sum((a - x) * (b - y) for a, b in points)
    size, slope = together / math.sqrt(across * up), together / across
    error = math.sqrt(max(0, 1 - size**2) * up / across / (len(points) - 2))
    low, high = (math.tanh(math.atanh(max(-0.9999999, min(0.9999999, size))) + way * 1.96 / math.sqrt(len(points) - 3)) for way in (-1, 1))
    degree = "a strong" if abs(size) >= 0.7 else "a moderate" if abs(size) >= 0.4 else "a weak" if abs(size) >= 0.2 else "hardly any"
    noise = " This is within noise: there may be no linear relation at all." if low <= 0 <= high else ""
    draw(other, points, lambda a: y + slope * (a - x))
    return [
        f"{other} and {target} have {degree} linear relation: correlation {size:.2f} (95 % interval {low:.2f} to {high:.2f}) over {len(points)} rows.{noise}",
        f"{other} explains {size**2:.0%} of the variation of {target}. One more of {other} goes with {slope:+.3g} of {target} (standard error {error:.2g}). This is an association; it does not show a cause.",
        f"On average {target} is {short(y)} and {other} is {short(x)}.",
    ] + ([f"{len(rows) - len(points)} of {len(rows)} rows are left out, because one of the two is missing."] if len(points) < len(rows) else [])


def draw(other, points, line):
    plt = pyplot()
    if plt:
        figure, axis = plt.subplots(figsize=(5.5, 3.5))
        some = points[:: 1 + len(points) // 5_000]
        axis.scatter([a for a, _ in some], [b for _, b in some], s=12)
        ends = [min(a for a, _ in points), max(a for a, _ in points)]
        axis.plot(ends, [line(a) for a in ends], color="tab:orange")
        axis.set(title=f"{target} and {other}", xlabel=other, ylabel=target)
        figure.tight_layout()
        plt.show()


found = answer()
answers = tell(found or [], "" if found else f"the relation of {other_columns[0]} and {target} cannot be measured: too few rows have both, or one of them never changes")
