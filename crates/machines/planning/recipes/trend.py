def measure(values):
    """Return the slope from point to point by least squares, with words that respect its standard error."""
    count, center = len(values), stats.fmean(values)
    middle = (count - 1) / 2
    across = sum((at - middle) ** 2 for at in range(count))
    slope = sum((at - middle) * (one - center) for at, one in enumerate(values)) / across
    rest = sum((one - center - slope * (at - middle)) ** 2 for at, one in enumerate(values))
    error = math.sqrt(rest / (count - 2) / across) if count > 2 else math.inf
    direction = "no clear trend" if count < 3 or abs(slope) <= critical(count - 2) * error else "rising" if slope > 0 else "falling"
    what = f"{direction} by {short(abs(slope))} from point to point" if direction != "no clear trend" else f"no clear trend: {short(slope)} from point to point is within noise"
    return {"slope": slope, "error": error, "direction": direction, "mean": center, "text": f"{what} (standard error {short(error)})"}


def draw(series, window):
    plt = pyplot()
    if plt:
        smooth = [stats.fmean(one for _, one in series[at - window + 1 : at + 1]) for at in range(window - 1, len(series))]
        figure, axis = plt.subplots(figsize=(8, 3))
        axis.plot([at for at, _ in series], [one for _, one in series], label=value_name)
        axis.plot([at for at, _ in series[window - 1 :]], smooth, label=f"mean of {window}")
        axis.set_ylabel(value_name)
        axis.legend()
        figure.autofmt_xdate()
        plt.show()


if "series" in globals() and len(series) > 1:
    trend = measure([one for _, one in series])
    print(f"mean {short(trend['mean'])}; {trend['text']}")
    draw(series, max(2, min(7, len(series) // 4)))
else:
    not_done(__STEP__, "there is no series of at least two points")
