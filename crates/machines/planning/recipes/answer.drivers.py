def explained(name, tests):
    """Return the share of the target's variation that a column explains alone, the share that chance reaches, and the way."""
    known = [(row[name], row[target]) for row in rows if row[name] is not None and row[target] is not None]
    center = stats.fmean(value for _, value in known) if known else 0
    up = sum((value - center) ** 2 for _, value in known)
    if len(known) < 4 or not up:
        return 0.0, 1.0, ""
    if columns[name] == "number":
        middle, free = stats.fmean(one for one, _ in known), 1
        across, together = sum((one - middle) ** 2 for one, _ in known), sum((one - middle) * (value - center) for one, value in known)
        share, way = (together**2 / (across * up) if across else 0.0), f"{target} {'rises' if together > 0 else 'falls'} with {name}"
    else:
        parts = {}
        for one, value in known:
            parts.setdefault(str(one), []).append(value)
        means, free = {one: stats.fmean(part) for one, part in parts.items()}, len(parts) - 1
        high, low = max(means, key=means.get), min(means, key=means.get)
        share = sum(len(part) * (means[one] - center) ** 2 for one, part in parts.items()) / up
        way = f"{target} differs by {name}, from {short(means[low])} ({low}) to {short(means[high])} ({high}) on average"
    count = len(known)
    # The share that chance reaches once in 20 tables, for all columns together (an approximation of the F distribution).
    z = stats.NormalDist().inv_cdf(1 - 0.05 / tests)
    size = free * (1 - 2 / (9 * free) + z * math.sqrt(2 / (9 * free))) ** 3 if free else 0
    return share, size / (size + max(0, count - 1 - free) or 1), way


def answer():
    if len(present(target)) < 4:
        return None
    names = [name for name in columns if name != target and columns[name] in ("number", "group")]
    shares = {name: explained(name, len(names)) for name in names}
    order = sorted(shares, key=lambda name: shares[name][0] - shares[name][1], reverse=True)
    for name in order:
        print(f"{name:20} explains {shares[name][0]:6.1%} of the variation of {target}; chance reaches {shares[name][1]:.1%}")
    clear = [name for name in order if shares[name][0] > shares[name][1] and shares[name][0] >= 0.01][:8]
    answers = [f"{shares[name][2]}: {name} alone explains {shares[name][0]:.0%} of the variation of {target}." for name in clear]
    rest = [f"{name} ({shares[name][0]:.1%})" for name in order if name not in clear]
    if not clear:
        answers = [f"No column alone explains more of the variation of {target} than chance does."]
    if rest:
        answers.append(f"Within noise or below 1 % of the variation: {', '.join(rest[:10])}{' and others' if len(rest) > 10 else ''}.")
    unused = [name for name in columns if columns[name] in ("text", "date")]
    if unused:
        answers.append(f"Not looked at, because they hold texts that hardly repeat or dates: {', '.join(unused)}.")
    if order:
        draw(order, shares)
    values = present(target)
    return [*answers, f"{target} is {short(stats.fmean(values))} on average over {len(values)} rows. These are associations; they do not show causes."]


def draw(order, shares):
    plt = pyplot()
    if not plt:
        return
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4))
    largest = sorted(order, key=lambda name: shares[name][0])[-8:]
    left.barh(largest, [100 * shares[name][0] for name in largest])
    left.set(title=f"explained alone of {target}", xlabel="% of the variation")
    best = order[0]
    known = [(row[best], row[target]) for row in rows if row[best] is not None and row[target] is not None]
    if columns[best] == "number":
        some = known[:: 1 + len(known) // 5_000]
        right.scatter([one for one, _ in some], [value for _, value in some], s=12)
    else:
        groups = sorted({str(one) for one, _ in known})[:20]
        right.boxplot([[value for one, value in known if str(one) == group] for group in groups])
        right.set_xticks(range(1, len(groups) + 1), groups, rotation=30)
    right.set(xlabel=best, ylabel=target)
    figure.tight_layout()
    plt.show()


found = answer()
answers = tell(found or [], "" if found else f"only {len(present(target))} rows have {target}: too few to tell what goes with it")
