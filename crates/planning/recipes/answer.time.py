def label(at, unit):
    forms = {"hour": "%Y-%m-%d %H:00", "day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}
    return f"{at.year}-Q{(at.month + 2) // 3}" if unit == "quarter" else at.strftime(forms[unit])


def answer():
    date = next(name for name in columns if columns[name] == "date")
    dated = [(moment(row[date]), row) for row in rows if moment(row[date])]
    days = (max(at for at, _ in dated) - min(at for at, _ in dated)).days
    unit = period or ("year" if days > 2_500 else "month" if days > 90 else "day")
    value = target or (number_columns[0] if len(number_columns) == 1 else None)
    parts = {}
    for at, row in sorted(dated, key=lambda pair: pair[0]):
        if value is None or is_number(row[value]):
            parts.setdefault(label(at, unit), []).append(row[value] if value else 1)
    total = {name: sum(part) for name, part in parts.items()}
    mean = {name: total[name] / len(parts[name]) for name in parts}
    amount, what = (mean, f"mean {value}") if value else (total, "number of rows")
    print(f"{unit:16} {'rows':>6} " + (f"{'mean ' + value:>16} {'total ' + value:>16}" if value else ""))
    for name in list(parts)[:60]:
        print(f"{name:16} {len(parts[name]):>6} " + (f"{mean[name]:>16,.5g} {total[name]:>16,.6g}" if value else ""))
    order = list(parts)
    high, low, first, last = max(order, key=amount.get), min(order, key=amount.get), amount[order[0]], amount[order[-1]]
    change = f" ({(last - first) / abs(first):+.0%})" if first else ""
    draw(order, amount, f"{what} by {unit}")
    answers = [
        f"The {what} by {unit} is highest in {high} ({amount[high]:,.4g}) and lowest in {low} ({amount[low]:,.4g}).",
        f"From {order[0]} to {order[-1]} it went from {first:,.4g} to {last:,.4g}{change}.",
    ]
    if value:
        most = max(order, key=total.get)
        answers.append(f"The total {value} is highest in {most} ({total[most]:,.6g}).")
    if len(parts[order[-1]]) < 0.7 * len(parts[order[len(order) // 2]]):
        answers.append(f"The last {unit} has only {len(parts[order[-1]])} rows, so it may be incomplete.")
    return answers


def draw(order, amount, title):
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return print("without matplotlib there is no picture")
    figure, axis = plt.subplots(figsize=(8, 3))
    axis.plot(order, [amount[name] for name in order], marker="o" if len(order) < 40 else None)
    axis.set_title(title)
    axis.set_xticks(order[:: max(1, len(order) // 12)])
    axis.tick_params(axis="x", rotation=45)
    figure.tight_layout()
    plt.show()


answers = answer()
print("\n".join(answers))
