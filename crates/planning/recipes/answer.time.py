def label(at, unit):
    forms = {"hour": "%Y-%m-%d %H:00", "day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}
    return f"{at.year}-Q{(at.month + 2) // 3}" if unit == "quarter" else at.strftime(forms[unit])


def slope(values):
    """Return the change from point to point by least squares, and its standard error."""
    middle, center = (len(values) - 1) / 2, stats.fmean(values)
    across = sum((at - middle) ** 2 for at in range(len(values)))
    rise = sum((at - middle) * (one - center) for at, one in enumerate(values)) / across
    rest = sum((one - center - rise * (at - middle)) ** 2 for at, one in enumerate(values))
    return rise, math.sqrt(rest / (len(values) - 2) / across)


def answer():
    dated = sorted(((row[date_column], row) for row in rows if row[date_column] is not None), key=lambda pair: pair[0])
    days = (dated[-1][0] - dated[0][0]).days
    unit = period or ("year" if days > 2_500 else "month" if days > 90 else "day")
    value = target
    parts = {}
    for at, row in dated:
        if value is None or row[value] is not None:
            parts.setdefault(label(at, unit), []).append(row[value] if value else 1)
    total = {name: sum(part) for name, part in parts.items()}
    mean = {name: total[name] / len(parts[name]) for name in parts}
    is_total = figures_asked == ["total"]
    amount, what = (total, "number of rows") if not value else (total, f"total {value}") if is_total else (mean, f"mean {value}")
    can_add = value and adds(value) is not False  # the total of a level means nothing
    print(f"{unit:16} {'rows':>6} " + (f"{'mean ' + value:>16} " if value else "") + (f"{'total ' + value:>16}" if can_add else ""))
    for name in list(parts)[:60]:
        print(f"{name:16} {len(parts[name]):>6} " + (f"{short(mean[name]):>16} " if value else "") + (f"{short(total[name]):>16}" if can_add else ""))
    order = list(parts)
    high, low, first, last = max(order, key=amount.get), min(order, key=amount.get), amount[order[0]], amount[order[-1]]
    change = f" ({(last - first) / abs(first):+.0%} of the first)" if first else ""
    answers = [
        f"The {what} by {unit} is highest in {high} ({short(amount[high])}) and lowest in {low} ({short(amount[low])}).",
        f"From {order[0]} to {order[-1]} it went from {short(first)} to {short(last)}{change}.",
    ]
    if len(order) > 3:
        rise, error = slope([amount[name] for name in order])
        is_clear = abs(rise) > critical(len(order) - 2) * error
        words = f"rises by {short(rise)}" if rise > 0 else f"falls by {short(-rise)}"
        answers.append(f"Over all, it {words} per {unit} (standard error {short(error)})" + ("." if is_clear else ": this is within noise, so there is no clear trend."))
    if 2 < len(order) <= 24:
        answers.append(f"The {what} by {unit}: " + ", ".join(f"{name} {short(amount[name])}" for name in order) + ".")
    if value and not is_total and (adds(value) or "total" in figures_asked):
        most = max(order, key=total.get)
        answers.append(f"The total {value} is highest in {most} ({short(total[most])}).")
    usual = stats.median(map(len, parts.values()))
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
