def correlation(one, other, some):
    """Return Pearson's correlation of two columns and its number of rows."""
    points = [(row[one], row[other]) for row in some if row[one] is not None and row[other] is not None]
    if len(points) < 3:
        return 0.0, len(points)
    x, y = (stats.fmean(part) for part in zip(*points))
    spread = math.sqrt(sum((a - x) ** 2 for a, _ in points) * sum((b - y) ** 2 for _, b in points))
    return (sum((a - x) * (b - y) for a, b in points) / spread if spread else 0.0), len(points)


statistics = {}
for name in columns:
    values = present(name)
    facts = {"holds": columns[name], "count": len(values), "missing": len(rows) - len(values)}
    if columns[name] == "number":
        facts |= {"mean": stats.fmean(values), "deviation": stats.pstdev(values), "min": min(values), "median": stats.median(values), "max": max(values)}
    elif columns[name] == "date":
        facts |= {"min": min(values), "max": max(values)}
    elif values:
        texts = list(map(str, values))
        facts |= {"distinct": len(set(texts)), "most common": stats.mode(texts)}
    statistics[name] = {key: round(one, 4) if isinstance(one, float) else one for key, one in facts.items()}
numbers = [name for name in columns if columns[name] == "number"][:12]
some = rows[:: 1 + len(rows) // 20_000]
correlations = {(one, other): correlation(one, other, some) for at, one in enumerate(numbers) for other in numbers[at + 1 :]}
if correlations:
    print("strongest correlations" + (f" (of {len(some)} rows, evenly chosen)" if len(some) < len(rows) else "") + ":")
for pair, (size, count) in sorted(correlations.items(), key=lambda item: -abs(item[1][0]))[:10]:
    print(f"{pair[0]} and {pair[1]}: {size:.2f}" + (" (within noise)" if abs(size) * math.sqrt(count) < 2 else ""))
show(statistics)
