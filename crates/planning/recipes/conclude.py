table = cleaned if "cleaned" in globals() else data
rows = table.to_dict("records") if hasattr(table, "to_dict") else table
conclusions = [f"The table has {len(rows)} rows and {len(rows[0]) if rows else 0} columns."]
for name in (rows[0] if rows else {}):
    values = [row[name] for row in rows if isinstance(row[name], (int, float)) and row[name] == row[name]]
    if values and len(conclusions) < 6:
        mean = sum(values) / len(values)
        conclusions.append(f"{name}: from {min(values):g} to {max(values):g}, {mean:.3g} on average.")
if "trend" in globals():
    conclusions.append(f"Trend: {trend['direction']} by {trend['slope']:.3g} per period.")
if "forecast" in globals():
    conclusions.append(f"Next period: {forecast['next']:.4g} (error of the method in the past: {forecast['error']:.3g}).")
if "scores" in globals():
    best = min(scores, key=scores.get)
    conclusions.append(f"The best model is {best} with a mean absolute error of {scores[best]:.4g}.")
for one in conclusions:
    print("-", one)
