count = len(series)
middle_x, middle_y = (count - 1) / 2, sum(one for _, one in series) / count
spread = sum((at - middle_x) ** 2 for at in range(count)) or 1
slope = sum((at - middle_x) * (one - middle_y) for at, (_, one) in enumerate(series)) / spread
trend = {"slope": slope, "direction": "rising" if slope > 0 else "falling" if slope < 0 else "flat", "mean": middle_y}
window = max(2, min(7, count // 4))
smooth = [sum(one for _, one in series[at - window + 1 : at + 1]) / window for at in range(window - 1, count)]
print(f"mean {middle_y:.4g}, slope {slope:.4g} per point: {trend['direction']}")
try:
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(8, 3))
    axis.plot([at for at, _ in series], [one for _, one in series], label=value_name)
    axis.plot([at for at, _ in series[window - 1 :]], smooth, label=f"mean of {window}")
    axis.legend()
    figure.autofmt_xdate()
    plt.show()
except ImportError:
    print("without matplotlib there is no picture")
