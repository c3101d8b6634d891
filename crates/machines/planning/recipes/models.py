import heapq


def baseline(learn):
    mean = stats.fmean(row[target] for row in learn)
    return lambda row: mean


def linear(learn):
    """Least squares on standardised features, by the normal equations."""
    scale = {name: (stats.fmean(row[name] for row in learn), stats.pstdev([row[name] for row in learn]) or 1) for name in features}
    form = lambda row: [1.0, *((row[name] - scale[name][0]) / scale[name][1] for name in features)]
    size = len(features) + 1
    system = [[0.0] * (size + 1) for _ in range(size)]
    for row in learn:
        inputs = form(row)
        for line, one in zip(system, inputs):
            for at, other in enumerate([*inputs, row[target]]):
                line[at] += one * other
    for at in range(size):
        system[at][at] += 1e-9 * len(learn)  # features that repeat each other share their weight
        for below in range(at + 1, size):
            factor = system[below][at] / system[at][at]
            system[below] = [low - factor * high for low, high in zip(system[below], system[at])]
    weights = [0.0] * size
    for at in reversed(range(size)):
        weights[at] = (system[at][-1] - sum(system[at][k] * weights[k] for k in range(at + 1, size))) / system[at][at]
    return lambda row: sum(weight * one for weight, one in zip(weights, form(row)))


def neighbours(learn):
    """Mean of the five nearest rows."""
    learn = learn[:2_000]  # the rows are in random order
    spread = {name: (max(row[name] for row in learn) - min(row[name] for row in learn)) or 1 for name in features}
    far = lambda one, two: sum(((one[name] - two[name]) / spread[name]) ** 2 for name in features)
    return lambda row: stats.fmean(one[target] for one in heapq.nsmallest(5, learn, key=lambda one: far(one, row)))


if "train" in globals():
    if len(train) > 2_000:
        split_notes.append(f"The model neighbours knows 2,000 of the {len(train):,} rows, chosen at random.")
    models = {"mean": baseline(train), "linear": linear(train), "neighbours": neighbours(train)}
    print("models: " + ", ".join(models))
else:
    not_done(__STEP__, steps_not_done.get(__STEP__, "there are no rows to learn from"))
