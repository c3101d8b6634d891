values = present(target)
middle, spread = stats.fmean(values), stats.stdev(values) if len(values) > 1 else 0.0
answers = [
    f"{target}: mean {short(middle)} (standard error {short(spread / math.sqrt(len(values)))}), median {short(stats.median(values))}, standard deviation {short(spread)}.",
    f"{target}: from {short(min(values))} to {short(max(values))}" + (f", total {short(sum(values))}." if adds(target) or "total" in figures_asked else "."),
    f"These figures are of {len(values)} rows" + (f"; {len(rows) - len(values)} of {len(rows)} rows have no {target}." if len(values) < len(rows) else "."),
]
tell(answers)
