def period_of(unit):
    """Return the function that finds the start of a period."""
    midnight = lambda at: at.replace(hour=0, minute=0, second=0, microsecond=0)
    return {
        "hour": lambda at: at.replace(minute=0, second=0, microsecond=0),
        "day": midnight,
        "week": lambda at: midnight(at) - datetime.timedelta(days=at.weekday()),
        "month": lambda at: midnight(at).replace(day=1),
        "quarter": lambda at: midnight(at).replace(month=(at.month - 1) // 3 * 3 + 1, day=1),
        "year": lambda at: midnight(at).replace(month=1, day=1),
    }[unit]


def after(start, unit, count=1):
    """Return the start of a later period."""
    days = {"hour": 1 / 24, "day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
    for _ in range(count):
        start = period_of(unit)(start + datetime.timedelta(days=days[unit]))
    return start


def combine(series, unit, name):
    """Combine the values of each period: totals of amounts, means of levels. A period that is under way is left out."""
    global series_ahead
    parts, ends = {}, {}
    for at, one in series:
        start = period_of(unit)(at)
        parts.setdefault(start, []).append(one)
        ends[start] = at
    gaps = [(after(start, unit) - ends[start]).total_seconds() / 86_400 for start in parts]
    usual = sorted(gaps[:-1])[int(0.9 * (len(gaps) - 2))] if len(gaps) > 1 else 0
    if len(parts) > 2 and gaps[-1] > max(apart, usual):
        notes.append(f"The {unit} from {max(parts).date()} is left out, because it is not over: its rows end on {series[-1][0].date()}.")
        parts.popitem()
        series_ahead = 2
    is_mean = not adds(name)
    start, empty = min(parts), []
    while start < max(parts):
        if start not in parts:
            empty.append(start)
        start = after(start, unit)
    if empty:
        notes.append(f"There are no rows of the {unit} from {empty[0].date()}{f' and of {len(empty) - 1} others' if len(empty) > 1 else ''}; {'they are left out' if is_mean else 'their total is 0'}.")
    if not is_mean:
        parts = {start: parts.get(start, []) for start in sorted([*parts, *empty])}
    return f"{'mean' if is_mean else 'total'} {name} per {unit}", [(at, sum(part) / len(part) if is_mean else sum(part)) for at, part in parts.items()]


dates = [name for name in [globals().get("date_column"), *columns] if name and columns[name] == "date"]
numbers = [name for name in [globals().get("target"), *columns] if name and columns[name] == "number"]
points = [(row[dates[0]], row[numbers[0]]) for row in rows] if dates and numbers else []
points = sorted((at, one) for at, one in points if at is not None and one is not None)
if len(points) < 3:
    not_done(__STEP__, f"a series needs a column of dates and one of numbers with at least three rows; the columns are {', '.join(columns)}")
else:
    value_name, series = numbers[0], points
    days = (series[-1][0] - series[0][0]).days
    is_repeated = len({at for at, _ in series}) < len(series)
    series_unit = globals().get("period") or (("month" if days > 90 else "day") if is_repeated else None)
    lengths = {"hour": 1 / 24, "day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365}
    apart = stats.median([(two - one).total_seconds() / 86_400 for one, two in zip(sorted({at for at, _ in series}), sorted({at for at, _ in series})[1:])] or [0])
    is_combined = bool(series_unit and (is_repeated or apart < 0.7 * lengths[series_unit]))
    series_fault, series_ahead = "", 1  # the number of periods from the last whole one to the next one
    if globals().get("period") and apart > 1.5 * lengths[period]:
        series_fault = f"the rows are {apart:g} days apart, so there is no next {period}"
    elif is_combined and adds(value_name) is None and globals().get("question") == "forecast":
        series_fault = f"the rules do not know whether {value_name} adds up over a {series_unit}"
    elif is_combined:
        value_name, series = combine(series, series_unit, value_name)
    print(f"{value_name} by {dates[0]}: {len(series)} points from {series[0][0].date()} to {series[-1][0].date()}")
    if len(points) < len(rows):
        print(f"{len(rows) - len(points)} of {len(rows)} rows are left out, because {dates[0]} or {numbers[0]} is missing")
