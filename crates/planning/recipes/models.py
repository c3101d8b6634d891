def baseline(learn):
    mean = sum(row[target] for row in learn) / len(learn)
    return lambda row: mean


def linear(learn):
    """Least squares by gradient descent on standardised features."""
    scale = {}
    for name in features:
        values = [row[name] for row in learn]
        mean = sum(values) / len(values)
        scale[name] = (mean, (sum((one - mean) ** 2 for one in values) / len(values)) ** 0.5 or 1)
    form = lambda row: [(row[name] - scale[name][0]) / scale[name][1] for name in features]
    inputs, wanted = [form(row) for row in learn], [row[target] for row in learn]
    weights, bias = [0.0] * len(features), sum(wanted) / len(wanted)
    for _ in range(500):
        faults = [bias + sum(w * x for w, x in zip(weights, one)) - y for one, y in zip(inputs, wanted)]
        bias -= 0.1 * sum(faults) / len(faults)
        for at in range(len(weights)):
            weights[at] -= 0.1 * sum(fault * one[at] for fault, one in zip(faults, inputs)) / len(faults)
    return lambda row: bias + sum(w * x for w, x in zip(weights, form(row)))


def neighbours(learn):
    """Mean of the five nearest rows."""
    spread = {name: (max(row[name] for row in learn) - min(row[name] for row in learn)) or 1 for name in features}
    far = lambda one, two: sum(((one[name] - two[name]) / spread[name]) ** 2 for name in features)
    return lambda row: sum(one[target] for one in sorted(learn, key=lambda one: far(one, row))[:5]) / min(5, len(learn))


models = {"mean": baseline(train), "linear": linear(train), "neighbours": neighbours(train)}
print("models: " + ", ".join(models))
