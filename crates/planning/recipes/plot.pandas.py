import matplotlib.pyplot as plt

table = cleaned if "cleaned" in globals() else data
numbers = list(table.select_dtypes(include="number").columns)[:4]
groups = [name for name in table.columns if name not in numbers and 1 < table[name].nunique() <= 12][:1]
figures = []
if numbers:
    figure, axes = plt.subplots(1, len(numbers), figsize=(4 * len(numbers), 3))
    for axis, name in zip([axes] if len(numbers) == 1 else axes, numbers):
        axis.hist(table[name].dropna(), bins=20)
        axis.set_title(name)
    figure.tight_layout()
    plt.show()
    figures.append("distribution of " + ", ".join(numbers))
if numbers and groups:
    means = table.groupby(groups[0])[numbers[0]].mean().sort_values()
    figure, axis = plt.subplots(figsize=(6, 3))
    axis.barh([str(one) for one in means.index], means.values)
    axis.set_title(f"mean {numbers[0]} by {groups[0]}")
    figure.tight_layout()
    plt.show()
    figures.append(f"mean {numbers[0]} by {groups[0]}")
print("figures: " + ("; ".join(figures) or "none, because no column has numbers"))
