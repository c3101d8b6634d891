def answer():
    other = other_columns[0]
    points = [(row[other], row[target]) for row in rows if is_number(row[other]) and is_number(row[target])]
    if len(points) < 3:
        raise ValueError(f"only {len(points)} rows have both {other} and {target}")
    x, y = sum(a for a, _ in points) / len(points), sum(b for _, b in points) / len(points)
    across, up = sum((a - x) ** 2 for a, _ in points), sum((b - y) ** 2 for _, b in points)
    together = sum((a - x) * (b - y) for a, b in points)
    correlation = together / (across * up) ** 0.5 if across and up else 0.0
    slope = together / across if across else 0.0
    size = abs(correlation)
    strength = "a strong" if size >= 0.7 else "a moderate" if size >= 0.4 else "a weak" if size >= 0.2 else "hardly any"
    draw(other, points, lambda a: y + slope * (a - x))
    return [
        f"{other} and {target} have {strength} linear relation: correlation {correlation:.2f} over {len(points)} rows. {other} explains {correlation**2:.0%} of the variation of {target}.",
        f"One more of {other} goes with {slope:+.3g} of {target}. This is an association; it does not show a cause.",
        f"On average {target} is {y:.4g} and {other} is {x:.4g}.",
    ]


def draw(other, points, line):
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return print("without matplotlib there is no picture")
    figure, axis = plt.subplots(figsize=(5.5, 3.5))
    axis.scatter([a for a, _ in points], [b for _, b in points], s=12)
    ends = [min(a for a, _ in points), max(a for a, _ in points)]
    axis.plot(ends, [line(a) for a in ends], color="tab:orange")
    axis.set_xlabel(other)
    axis.set_ylabel(target)
    axis.set_title(f"{target} and {other}")
    figure.tight_layout()
    plt.show()


answers = answer()
print("\n".join(answers))
