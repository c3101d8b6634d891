def label(at, unit):
    forms = {"hour": "%Y-%m-%d %H:00", "day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}
    return f"{at.year}-Q{(at.month + 2) // 3}" if unit == "quarter" else at.strftime(forms[unit])


def slope(points):
    """Return the change per period by least squares, and its standard error."""
    middle, center = (stats.fmean(part) for part in zip(*points))
    across = sum((at - middle) ** 2 for at, _ in points)
    rise = sum((at - middle) * (one - center) for at, one in points) / across
    rest = sum((one - center - rise * (at - middle)) ** 2 for at, one in points)
    return rise, math.sqrt(rest / (len(points) - 2) / across)


def periods(first, last, unit):
    """Return the names of all periods between two dates, also of those without rows; none if they are too many."""
    step = datetime.timedelta(hours=1) if unit == "hour" else datetime.timedelta(days=1)
    count = (last - first) // step + 1
    return list(dict.fromkeys([label(first + at * step, unit) for at in range(count)] + [label(last, unit)])) if count < 200_000 else []


def answer():
    dated = sorted(((row[date_column], row) for row in rows if row[date_column] is not None), key=lambda pair: pair[0])
    days = (dated[-1][0] - dated[0][0]).days
    unit = period or ("year" if days > 2_500 else "month" if days > 90 else "day")
    value = target
    parts = {}
    for at, row in dated:
        if value is None or row[value] is not None:
            parts.setdefault(label(at, unit), []).append(row[value] if value else 1)
    seen = list(parts)
    every = periods(dated[0][0], dated[-1][0], unit) or seen
    empty, place = [name for name in every if name not in parts], {name: at for at, name in enumerate(every)}
    usual = stats.median(map(len, parts.values()))
    is_total = figures_asked == ["total"]
    if value is None or is_total:
        parts = {name: parts.get(name, []) for name in every}  # a period without rows has the number and the total 0
    total = {name: sum(part) for name, part in parts.items()}
    mean = {name: total[name] / len(parts[name]) for name in seen}
    amount, what = (total, "number of rows") if not value else (total, f"total {value}") if is_total else (mean, f"mean {value}")
    can_add = value and adds(value) is not False  # the total of a level means nothing
    print(f"{unit:16} {'rows':>6} " + (f"{'mean ' + value:>16} " if value else "") + (f"{'total ' + value:>16}" if can_add else ""))
    for name in list(parts)[:60]:
        print(f"{name:16} {len(parts[name]):>6} " + (f"{short(mean[name]) if name in mean else '':>16} " if value else "") + (f"{short(total[name]):>16}" if can_add else ""))
    order = list(parts)
    first, last = amount[order[0]], amount[order[-1]]
    change = f" ({(last - first) / abs(first):+.0%} of the first)" if first else ""
    answers = [
        f"The {what} by {unit} is highest in {extreme(amount, max)} and lowest in {extreme(amount, min)}.",
        f"From {order[0]} to {order[-1]} it went from {short(first)} to {short(last)}{change}.",
    ]
    if len(order) > 3:
        rise, error = slope([(place[name], amount[name]) for name in order])
        rise = 0 if abs(rise) < 1e-9 * max(map(abs, amount.values())) else rise
        is_clear = abs(rise) > critical(len(order) - 2) * error
        words = f"rises by {short(rise)}" if rise >= 0 else f"falls by {short(-rise)}"
        answers.append(f"Over all, it {words} per {unit} (standard error {short(error)})" + ("." if is_clear else ": this is within noise, so there is no clear trend."))
    if 2 < len(order) <= 24:
        answers.append(f"The {what} by {unit}: " + ", ".join(f"{name} {short(amount[name])}" for name in order) + ".")
    if value and not is_total and adds(value):
        full = {name: total.get(name, 0) for name in every}
        answers.append(f"The total {value} is highest in {extreme(full, max)} and lowest in {extreme(full, min)}.")
        if not figures_asked and 2 < len(full) <= 24:
            answers.append(f"The total {value} by {unit}: " + ", ".join(f"{name} {short(full[name])}" for name in full) + ".")
    if value and not figures_asked and max(map(len, parts.values())) > 1:
        answers.append(f"The highest single {value} is in {extreme({name: max(parts[name]) for name in seen}, max)}, the lowest in {extreme({name: min(parts[name]) for name in seen}, min)}.")
    if empty:
        named = ", ".join(empty[:8]) + (f" and {len(empty) - 8} more" if len(empty) > 8 else "")
        answers.append(f"There are no rows of {named}" + (f"; the mean {value} leaves them out." if value and not is_total else ", so their figure is 0."))
    for name in [order[0], order[-1]] if len(order) > 2 else []:
        if len(parts[name]) < 0.7 * usual:
            answers.append(f"{name} has only {len(parts[name])} rows ({usual:g} are usual), so it may be incomplete.")
    left = len(rows) - sum(map(len, parts.values()))
    if left:
        answers.append(f"{left} of {len(rows)} rows have no {date_column}{' or no ' + value if value else ''} and are left out.")
    draw(order, amount, what, unit)
    return answers


def draw(order, amount, what, unit):
    plt = pyplot()
    if plt:
        figure, axis = plt.subplots(figsize=(8, 3))
        axis.plot(order, [amount[name] for name in order], marker="o" if len(order) < 40 else None)
        axis.set(title=f"{what} by {unit}", xlabel=unit, ylabel=what)
        axis.set_xticks(order[:: max(1, len(order) // 12)])
        axis.tick_params(axis="x", rotation=45)
        figure.tight_layout()
        plt.show()


answers = tell(answer())
