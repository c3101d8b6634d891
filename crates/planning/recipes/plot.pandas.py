import matplotlib.pyplot as plt

table = cleaned if "cleaned" in globals() else data
# The columns that the problem names come first.
first = [name for name in [globals().get("target"), *globals().get("other_columns", [])] if name]
numeric = [name for name in table.select_dtypes(include="number").columns if name in globals().get("number_columns", table.columns)]
numeric = sorted(numeric, key=lambda name: (first + list(numeric)).index(name))[:4]
grouped = [name for name in table.columns if name not in numeric and 1 < table[name].nunique() <= 12]
grouped = [name for name in [globals().get("group_column"), *grouped] if name in grouped][:1]
figures = []
if numeric:
    figure, axes = plt.subplots(1, len(numeric), figsize=(4 * len(numeric), 3))
    for axis, name in zip([axes] if len(numeric) == 1 else axes, numeric):
        axis.hist(table[name].dropna(), bins=20)
        axis.set_title(name)
    figure.tight_layout()
    plt.show()
    figures.append("distribution of " + ", ".join(numeric))
if numeric and grouped:
    means = table.groupby(grouped[0])[numeric[0]].mean().sort_values()
    figure, axis = plt.subplots(figsize=(6, 1 + 0.3 * len(means)))
    axis.barh([str(one) for one in means.index], means.values)
    axis.set_title(f"mean {numeric[0]} by {grouped[0]}")
    figure.tight_layout()
    plt.show()
    figures.append(f"mean {numeric[0]} by {grouped[0]}")
print("figures: " + ("; ".join(figures) or "none, because no column has numbers"))
