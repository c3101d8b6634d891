import datetime

table = cleaned if "cleaned" in globals() else data
rows = table.to_dict("records") if hasattr(table, "to_dict") else table


def is_number(one):
    return isinstance(one, (int, float)) and one == one


def moment(one):
    """Return the date that a text begins with, None if it does not."""
    forms = {"%Y-%m-%d %H:%M:%S": 19, "%Y-%m-%dT%H:%M:%S": 19, "%Y-%m-%d": 10, "%Y/%m/%d": 10, "%Y-%m": 7}
    for form, size in forms.items():
        try:
            return datetime.datetime.strptime(str(one)[:size], form)
        except ValueError:
            pass
    return None


def present(name):
    return [row[name] for row in rows if row[name] is not None and row[name] == row[name]]


def kind(name):
    """Return what a column holds."""
    if all(isinstance(one, (int, float)) for one in present(name)):
        is_count = name.lower().split("_")[-1] in ("id", "key", "index", "nr") and len(set(present(name))) == len(rows)
        return "identifier" if is_count else "number"
    if all(moment(one) for one in present(name)[:20]):
        return "date"
    return "group" if 1 < len(set(present(name))) <= 50 else "text"


columns = {str(name): kind(name) for name in (rows[0] if rows else {})}
for name in columns:
    some = ", ".join(sorted(map(str, set(present(name))))[:20])
    print(f"{name}: {columns[name]}" + (f" ({some})" if columns[name] == "group" else ""))
