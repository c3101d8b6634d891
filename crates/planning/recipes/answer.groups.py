def show(one):
    return f"{one:,.0f}" if abs(one) >= 10_000 else f"{one:,.4g}"


def difference(members, mean, pair):
    """Compare the means of two groups with the standard error of their difference."""
    one, other = pair
    variance = lambda name: sum((x - mean[name]) ** 2 for x in members[name]) / (len(members[name]) - 1) / len(members[name])
    gap, error = abs(mean[one] - mean[other]), (variance(one) + variance(other)) ** 0.5
    share = f" ({gap / abs(mean[other]):.0%})" if mean[other] else ""
    verdict = "more than two standard errors, so hardly by chance" if gap > 2 * error else "less than two standard errors, so it may be chance"
    return f"{one} ({show(mean[one])}) and {other} ({show(mean[other])}) differ in {target} by {show(gap)}{share}: {verdict} (standard error {show(error)})."


def answer():
    members = {}
    for row in rows:
        if isinstance(row[group_column], str) and (target is None or is_number(row[target])):
            members.setdefault(row[group_column], []).append(row[target] if target else 1)
    total = {name: sum(members[name]) for name in members}
    mean = {name: total[name] / len(members[name]) for name in members}
    amount, what = (mean, f"mean {target}") if target else (total, "number of rows")
    order = sorted(amount, key=amount.get, reverse=True)
    print(f"{group_column:20} {'rows':>6} " + (f"{'mean ' + target:>16} {'total ' + target:>16}" if target else ""))
    for name in order:
        print(f"{name:20} {len(members[name]):>6} " + (f"{show(mean[name]):>16} {show(total[name]):>16}" if target else ""))
    high, low = order[0], order[-1]
    answers = [f"The {what} is highest for {group_column} {high} ({show(amount[high])}) and lowest for {low} ({show(amount[low])})."]
    if target and len(order) > 2:
        most = max(total, key=total.get)
        answers.append(f"The total {target} is highest for {most} ({show(total[most])}).")
    chosen = [name for name in named_values if name in members]
    pair = chosen[:2] if len(chosen) > 1 else [high, low]
    if target and len(order) > 1 and all(len(members[name]) > 1 for name in pair):
        answers.insert(0 if len(chosen) > 1 else len(answers), difference(members, mean, pair))
    draw(order[:20][::-1], amount, what)
    return answers


def draw(names, amount, what):
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return print("without matplotlib there is no picture")
    figure, axis = plt.subplots(figsize=(6, 1 + 0.3 * len(names)))
    axis.barh(names, [amount[name] for name in names])
    axis.set_xlabel(what)
    axis.set_title(f"{what} by {group_column}")
    figure.tight_layout()
    plt.show()


answers = answer()
print("\n".join(answers))
