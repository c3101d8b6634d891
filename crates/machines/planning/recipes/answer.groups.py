def difference(members, mean, pair):
    """Compare the means of two groups with the standard error of their difference."""
    one, other = pair
    error = math.sqrt(sum(stats.variance(members[name]) / len(members[name]) for name in pair))
    gap, pairs = abs(mean[one] - mean[other]), len(mean) * (len(mean) - 1) // 2
    free = min(len(members[name]) for name in pair) - 1
    limit = critical(free, 0.05 / pairs)  # some of many groups differ by chance, whichever pair a question names
    share = f" ({gap / abs(mean[other]):.0%} of the mean of {other})" if mean[other] else ""
    verdict = "so hardly by chance" if gap > limit * error else "so it is within noise"
    return f"{one} ({short(mean[one])}) and {other} ({short(mean[other])}) differ in mean {target} by {short(gap)}{share}: {gap / error if error else math.inf:.1f} standard errors ({limit:.1f} are needed{f', because {len(mean)} groups have {pairs} pairs' if pairs > 1 else ''}), {verdict}."


def answer():
    members, missing = {}, {}
    for row in rows:
        name = str(row[group_column])
        if row[group_column] is not None and target and row[target] is None:
            missing[name] = missing.get(name, 0) + 1
        elif row[group_column] is not None:
            members.setdefault(name, []).append(row[target] if target else 1)
    total = {name: sum(members[name]) for name in members}
    mean = {name: total[name] / len(members[name]) for name in members}
    is_total, is_median = figures_asked == ["total"], figures_asked == ["median"]
    amount, what = (total, "number of rows") if not target else (total, f"total {target}") if is_total else (mean, f"mean {target}")
    if is_median:
        amount, what = {name: stats.median(members[name]) for name in members}, f"median {target}"
    order = sorted(amount, key=amount.get, reverse=True)
    can_add = target and adds(target) is not False  # the total of a level means nothing
    print(f"{group_column:20} {'rows':>6} " + (f"{'missing':>8} {'mean ' + target:>16} " if target else "") + (f"{'total ' + target:>16}" if can_add else ""))
    for name in order[:60]:
        print(f"{name:20} {len(members[name]):>6} " + (f"{missing.get(name, 0):>8} {short(mean[name]):>16} " if target else "") + (f"{short(total[name]):>16}" if can_add else ""))
    high, low = order[0], order[-1]
    answers = [f"The {what} is highest for {group_column} {extreme(amount, max)} and lowest for {extreme(amount, min)}."]
    if target and len(order) > 1 and not is_total and not is_median and adds(target):
        answers.append(f"The total {target} is highest for {extreme(total, max)} and lowest for {extreme(total, min)}.")
    if target and len(order) > 1 and not figures_asked and not named_values:
        answers.append(f"The highest single {target} is of {extreme({name: max(members[name]) for name in members}, max)}, the lowest of {extreme({name: min(members[name]) for name in members}, min)}.")
    for each, label in ((amount, what), (total, f"total {target}")) if target and not figures_asked and adds(target) else ((amount, what),):
        if 2 < len(order) <= 20 and not named_values:
            answers.append(f"The {label} by {group_column}: " + ", ".join(f"{name} {short(each[name])}" for name in order) + ".")
    chosen = [name for name in named_values if name in members]
    pair = chosen[:2] if len(chosen) > 1 else [high, low]
    if is_total and len(chosen) > 1:
        answers.insert(0, f"{' and '.join(f'{name} ({short(total[name])})' for name in pair)} differ in total {target} by {short(abs(total[pair[0]] - total[pair[1]]))}.")
    elif target and len(order) > 1 and not is_total and not is_median and all(len(members[name]) > 1 for name in pair):
        if len(chosen) > 1 and not figures_asked and adds(target):
            answers.insert(0, f"The total {target} is {' and '.join(f'{short(total[name])} for {name}' for name in pair)}.")
        answers.insert(0 if len(chosen) > 1 else len(answers), difference(members, mean, pair))
    elif target and len(order) > 1 and not is_total and not is_median:
        answers.append(f"{' and '.join(pair)} have too few rows to tell their difference from noise.")
    for name in chosen if not target or len(chosen) != 2 else []:
        also = f", total {short(total[name])}" if target and (adds(target) or "total" in figures_asked) else ""
        answers.insert(0, f"{group_column} {name}: mean {target} {short(mean[name])} over {len(members[name])} rows{also}." if target else f"{group_column} {name}: {len(members[name])} rows.")
    if missing:
        parts = [f"{missing[name]} of {missing[name] + len(members.get(name, []))} of {name}" for name in sorted(missing, key=missing.get, reverse=True)[:6]]
        answers.append(f"Rows without {target} are left out: {', '.join(parts)}. If they differ from the others, so do these figures.")
    without = sum(row[group_column] is None for row in rows)
    if without:
        answers.append(f"{without} of {len(rows)} rows have no {group_column} and are left out.")
    draw(order[:20][::-1], amount, what)
    return answers


def draw(names, amount, what):
    is_drawn = f"{what} by {group_column}" in globals().get("figures", [])
    plt = None if is_drawn else pyplot()
    if plt:
        figure, axis = plt.subplots(figsize=(6, 1.2 + 0.3 * len(names)))
        axis.barh(names, [amount[name] for name in names])
        axis.set(title=f"{what} by {group_column}", xlabel=what, ylabel=group_column)
        figure.tight_layout()
        plt.show()


answers = tell(answer())
