overview = {}
for name in columns:
    values = present(name)
    overview[name] = {"holds": columns[name], "missing": len(rows) - len(values), "distinct": len(set(values)), "example": values[0] if values else None}
repeated = len(rows) - len({tuple(row.values()) for row in rows})
print(f"{len(rows)} rows, {repeated} of them repeat an earlier row; {sum(facts['missing'] for facts in overview.values())} missing values")
show(overview)
