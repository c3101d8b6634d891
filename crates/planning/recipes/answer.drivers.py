def explained(name, known):
    """Return the share of the target's variation that a column explains alone, and in which way."""
    center = sum(row[target] for row in known) / len(known)
    up = sum((row[target] - center) ** 2 for row in known)
    if columns[name] == "number":
        points = [(row[name], row[target] - center) for row in known if is_number(row[name])]
        middle = sum(a for a, _ in points) / len(points)
        across, together = sum((a - middle) ** 2 for a, _ in points), sum((a - middle) * b for a, b in points)
        share = together**2 / (across * up) if across and up else 0.0
        return share, f"{target} {'rises' if together > 0 else 'falls'} with {name}"
    parts = {}
    for row in known:
        parts.setdefault(row[name], []).append(row[target])
    between = sum(len(part) * (sum(part) / len(part) - center) ** 2 for part in parts.values())
    means = {one: sum(part) / len(part) for one, part in parts.items()}
    high, low = max(means, key=means.get), min(means, key=means.get)
    return (between / up if up else 0.0), f"{target} differs by {name}, from {means[low]:.4g} ({low}) to {means[high]:.4g} ({high}) on average"


def answer():
    known = [row for row in rows if is_number(row[target])]
    # A column with many different texts explains almost everything and means nothing.
    is_useful = lambda name: columns[name] == "number" or columns[name] == "group" and len(set(present(name))) <= len(known) / 8
    shares = {name: explained(name, known) for name in columns if name != target and is_useful(name)}
    order = sorted(shares, key=lambda name: shares[name][0], reverse=True)
    for name in order:
        print(f"{name:20} explains {shares[name][0]:6.1%} of the variation of {target}")
    answers = [f"{shares[name][1]}: {name} alone explains {shares[name][0]:.0%} of the variation." for name in order[:3] if shares[name][0] >= 0.04]
    if order:
        draw(order, shares, known)
    center = sum(row[target] for row in known) / len(known)
    last = f"{target} is {center:.4g} on average over {len(known)} rows. These are associations; they do not show causes."
    return [*(answers or [f"No column alone explains more than 4 % of the variation of {target}."]), last]


def draw(order, shares, known):
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return print("without matplotlib there is no picture")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.2))
    left.barh(order[:8][::-1], [100 * shares[name][0] for name in order[:8]][::-1])
    left.set_title(f"% of the variation of {target}")
    best = order[0]
    if columns[best] == "number":
        right.scatter([row[best] for row in known], [row[target] for row in known], s=12)
    else:
        groups = sorted(set(present(best)), key=str)
        right.boxplot([[row[target] for row in known if row[best] == one] for one in groups])
        right.set_xticks(range(1, len(groups) + 1), groups, rotation=30)
    right.set_xlabel(best)
    right.set_ylabel(target)
    figure.tight_layout()
    plt.show()


answers = answer()
print("\n".join(answers))
