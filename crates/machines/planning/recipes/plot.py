def edges(values):
    """Return the edges of 20 or fewer bars; bars of whole numbers begin and end between them."""
    low, high = min(values), max(values)
    if all(float(one).is_integer() for one in values):
        width = 1 + int(high - low) // 20
        return [low - 0.5 + width * at for at in range(int(high - low) // width + 2)]
    return [low + (high - low) * at / 20 for at in range(21)]


def bars(values):
    """Print a histogram as text."""
    ends = edges(values)
    for low, high in zip(ends, ends[1:]):
        count = sum(low <= one < high or one == high == ends[-1] for one in values)
        print(f"{low:12.4g} to {high:<12.4g} {'#' * math.ceil(40 * count / len(values))} {count}")


def draw(numbers, group):
    plt = pyplot()
    for name in [] if plt else numbers:
        print(f"\n{name}")
        bars(present(name))
    if plt and numbers:
        figure, axes = plt.subplots(1, len(numbers), figsize=(4 * len(numbers), 3), squeeze=False)
        for axis, name in zip(axes[0], numbers):
            axis.hist(present(name), bins=edges(present(name)))
            axis.set(title=name, xlabel=name, ylabel="rows")
        figure.tight_layout()
        plt.show()
    made = [f"distribution of {', '.join(numbers)}"] if numbers else []
    is_drawn = globals().get("question") == "groups" and [target, group_column] == [*numbers[:1], group]
    if plt and numbers and group and not is_drawn:
        parts = {}
        for row in rows:
            if row[group] is not None and row[numbers[0]] is not None:
                parts.setdefault(str(row[group]), []).append(row[numbers[0]])
        parts = dict(sorted(parts.items(), key=lambda item: stats.fmean(item[1]))[-20:])
        figure, axis = plt.subplots(figsize=(6, 1.2 + 0.3 * len(parts)))
        axis.barh(list(parts), [stats.fmean(part) for part in parts.values()])
        axis.set(title=f"mean {numbers[0]} by {group}", xlabel=f"mean {numbers[0]}", ylabel=group)
        figure.tight_layout()
        plt.show()
        made.append(f"mean {numbers[0]} by {group}")
    return made


wanted = __COLUMNS__ or [name for name in [globals().get("target"), *globals().get("other_columns", []), globals().get("group_column")] if name]
numbers = [name for name in wanted if columns[name] == "number"] + [name for name in columns if columns[name] == "number" and name not in wanted]
groups = [name for name in wanted if columns[name] == "group"] + [name for name in columns if columns[name] == "group" and len(set(present(name))) <= 12]
figures = draw(numbers[:1 if __COLUMNS__ and groups else 4], groups[0] if groups else None)
print("figures: " + ("; ".join(figures) or "none, because no column has numbers"))
