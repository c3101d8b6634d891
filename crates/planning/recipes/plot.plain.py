table = cleaned if "cleaned" in globals() else data
rows = table.to_dict("records") if hasattr(table, "to_dict") else table
figures = []
for name in (rows[0] if rows else {}):
    values = [row[name] for row in rows if isinstance(row[name], (int, float)) and row[name] == row[name]]
    if not values or len(figures) == 4:
        continue
    low, high = min(values), max(values)
    width = (high - low) / 8 or 1
    counts = [0] * 8
    for one in values:
        counts[min(7, int((one - low) / width))] += 1
    print(f"\n{name}")
    for at, count in enumerate(counts):
        print(f"{low + at * width:12.3f} {'#' * round(40 * count / max(counts))} {count}")
    figures.append(f"distribution of {name}")
print("\nfigures: " + ("; ".join(figures) or "none, because no column has numbers"))
