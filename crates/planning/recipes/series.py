import datetime

table = cleaned if "cleaned" in globals() else data
rows = table.to_dict("records") if hasattr(table, "to_dict") else table


def moment(one):
    """Return the date that a text begins with, None if it does not."""
    for size, form in ((19, "%Y-%m-%d %H:%M:%S"), (19, "%Y-%m-%dT%H:%M:%S"), (10, "%Y-%m-%d"), (7, "%Y-%m")):
        try:
            return datetime.datetime.strptime(str(one)[:size], form)
        except ValueError:
            pass
    return None


names = list(rows[0]) if rows else []
dated = [name for name in names if rows and all(moment(row[name]) for row in rows[:20])]
valued = [name for name in names if name not in dated and isinstance(rows[0][name], (int, float))]
if not dated or not valued:
    raise ValueError(f"no column of dates with a column of numbers among {names}")
date_name, value_name = dated[0], globals().get("target") if globals().get("target") in valued else valued[0]
series = sorted((moment(row[date_name]), row[value_name]) for row in rows if isinstance(row[value_name], (int, float)) and row[value_name] == row[value_name])


def combine(series, unit):
    """Combine the values of each period: means of rates and scores, totals of everything else. An incomplete end is left out."""
    starts = {
        "hour": lambda at: at.replace(minute=0, second=0),
        "day": lambda at: at.replace(hour=0, minute=0, second=0),
        "week": lambda at: at.replace(hour=0, minute=0, second=0) - datetime.timedelta(days=at.weekday()),
        "month": lambda at: at.replace(day=1, hour=0, minute=0, second=0),
        "quarter": lambda at: at.replace(month=(at.month - 1) // 3 * 3 + 1, day=1, hour=0, minute=0, second=0),
        "year": lambda at: at.replace(month=1, day=1, hour=0, minute=0, second=0),
    }
    parts = {}
    for at, one in series:
        parts.setdefault(starts[unit](at), []).append(one)
    sizes = [len(part) for part in parts.values()]
    if len(parts) > 2 and sizes[-1] < 0.7 * sorted(sizes)[len(sizes) // 2]:
        print(f"the last {unit} is left out, because it has only {sizes[-1]} rows")
        parts.popitem()
    is_mean = any(word in value_name.lower() for word in ("price", "rate", "rating", "ratio", "score", "satisf", "temp", "percent", "mean", "average", "age"))
    name = f"{'mean' if is_mean else 'total'} {value_name} per {unit}"
    return name, [(at, sum(part) / len(part) if is_mean else sum(part)) for at, part in parts.items()]


days = (series[-1][0] - series[0][0]).days
is_repeated = len({at for at, _ in series}) < len(series)
series_unit = globals().get("period") or (("month" if days > 90 else "day") if is_repeated else None)
if series_unit and is_repeated or globals().get("period") in ("week", "month", "quarter", "year"):
    value_name, series = combine(series, series_unit)
print(f"{value_name} by {date_name}: {len(series)} points from {series[0][0].date()} to {series[-1][0].date()}")
