values = present(target)
middle, spread = stats.fmean(values), stats.stdev(values) if len(values) > 1 else 0.0
answers = [
    f"{target}: mean {short(middle)} (standard error {short(spread / math.sqrt(len(values)))}), median {short(stats.median(values))}, standard deviation {short(spread)}.",
    f"{target}: from {short(min(values))} to {short(max(values))}, total {short(sum(values))}.",
    f"These figures are of {len(values)} rows" + (f"; {len(rows) - len(values)} of {len(rows)} rows have no {target}." if len(values) < len(rows) else "."),
]
print("\n".join(answers))
