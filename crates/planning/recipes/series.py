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
date_name, value_name = dated[0], valued[0]
series = sorted((moment(row[date_name]), row[value_name]) for row in rows if row[value_name] == row[value_name])
print(f"{value_name} by {date_name}: {len(series)} points from {series[0][0].date()} to {series[-1][0].date()}")
