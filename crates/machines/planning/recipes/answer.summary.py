FIGURES = {
    "mean": stats.fmean,
    "median": stats.median,
    "total": sum,
    "minimum": min,
    "maximum": max,
    "deviation": lambda values: stats.stdev(values) if len(values) > 1 else 0.0,
    "range": lambda values: max(values) - min(values),
}


def answer():
    if target is None:
        return [f"The table has {len(rows)} rows."]
    chosen = [row for row in rows if not group_column or str(row[group_column]) == named_values[0]]
    values, where = [row[target] for row in chosen if row[target] is not None], f" with {group_column} {named_values[0]}" if group_column else ""
    if not values:
        return []
    figures = {name: short(compute(values)) for name, compute in FIGURES.items()}
    asked = [name for name in figures_asked if name in figures]
    error = short(FIGURES["deviation"](values) / math.sqrt(len(values)))
    total = f", total {figures['total']}" if adds(target) or "total" in asked else ""
    return [f"The {'standard ' * (name == 'deviation')}{name} of {target}{f' in the rows{where}' if where else ''} is {figures[name]}." for name in asked] + [
        f"{target}: mean {figures['mean']} (standard error {error}), median {figures['median']}, standard deviation {figures['deviation']}.",
        f"{target}: from {figures['minimum']} to {figures['maximum']}{total}.",
        f"These figures are of {len(values)} rows{where}" + (f"; {len(chosen) - len(values)} of {len(chosen)} rows have no {target}." if len(values) < len(chosen) else "."),
    ]


found = answer()
answers = tell(found, "" if found else f"no row of it has {target}")
