import statistics as stats

table = cleaned if "cleaned" in globals() else data
statistics = {}
for name in (table[0] if table else {}):
    values = [row[name] for row in table if row[name] is not None]
    if values and all(isinstance(one, (int, float)) for one in values):
        statistics[name] = {
            "count": len(values),
            "mean": round(stats.fmean(values), 3),
            "median": stats.median(values),
            "min": min(values),
            "max": max(values),
        }
    else:
        common = max(set(values), key=values.count) if values else None
        statistics[name] = {"count": len(values), "distinct": len(set(values)), "most common": common}
for name, facts in statistics.items():
    print(f"{name}: {facts}")
