values = [one for _, one in series]
window = max(2, min(7, len(values) // 4))
methods = {
    "last value": lambda past: past[-1],
    f"mean of {window}": lambda past: sum(past[-window:]) / len(past[-window:]),
    "drift": lambda past: past[-1] + (past[-1] - past[0]) / max(1, len(past) - 1),
}
start = max(2, len(values) // 2)
errors = {
    name: sum(abs(method(values[:at]) - values[at]) for at in range(start, len(values))) / max(1, len(values) - start)
    for name, method in methods.items()
}
best = min(errors, key=errors.get)
forecast = {"method": best, "next": methods[best](values), "error": errors[best]}
for name, error in sorted(errors.items(), key=lambda pair: pair[1]):
    print(f"{name}: mean absolute error {error:.4g}")
print(f"next value by {best}: {forecast['next']:.4g}")
