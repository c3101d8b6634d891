names = list(data[0]) if data else []
overview = {}
for name in names:
    values = [row[name] for row in data]
    present = [one for one in values if one is not None]
    kinds = sorted({type(one).__name__ for one in present})
    overview[name] = {"type": "/".join(kinds), "missing": len(values) - len(present), "distinct": len(set(present))}
for name, facts in overview.items():
    print(f"{name}: {facts}")
