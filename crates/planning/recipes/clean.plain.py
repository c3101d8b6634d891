import statistics

seen, cleaned = set(), []
for row in data:
    key = tuple(sorted((name, repr(one)) for name, one in row.items()))
    if key not in seen:
        seen.add(key)
        cleaned.append(dict(row))
filled = {}
for name in (cleaned[0] if cleaned else {}):
    present = [row[name] for row in cleaned if row[name] is not None]
    missing = len(cleaned) - len(present)
    if missing and present and all(isinstance(one, (int, float)) for one in present):
        middle = statistics.median(present)
        for row in cleaned:
            row[name] = middle if row[name] is None else row[name]
        filled[name] = missing
print(f"{len(data) - len(cleaned)} duplicated rows removed")
print(f"missing numbers replaced by the median: {filled or 'none'}")
