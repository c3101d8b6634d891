def change(name):
    """Return how much the linear model's prediction changes over a feature's range, with all others at their means."""
    middle = {feature: stats.fmean(row[feature] for row in train) for feature in features}
    ends = [models["linear"]({**middle, name: pick(row[name] for row in train)}) for pick in (min, max)]
    return ends[1] - ends[0]


def answer():
    best, plain = min(scores, key=scores.get), scores["mean"]
    faults = {name: [abs(models[name](row) - row[target]) for row in test] for name in ("mean", best)}
    better = [one - other for one, other in zip(faults["mean"], faults[best])]
    error = stats.stdev(better) / math.sqrt(len(better)) if len(better) > 1 else math.inf
    if best == "mean" or stats.fmean(better) < critical(len(better) - 1) * error:
        return [f"No model predicts {target} clearly better than always guessing the mean, which is off by {short(plain)} on average on {len(test)} rows: what {', '.join(features)} add is within noise."]
    answers = [f"{target} is predicted best by the model {best}: from {', '.join(features)} it is off by {short(scores[best])} on average, {1 - scores[best] / plain:.0%} less than always guessing the mean ({short(plain)}), on {len(test)} rows that it had not seen."]
    changes = {name: change(name) for name in features}
    for name in sorted(features, key=lambda name: abs(changes[name]), reverse=True)[:3]:
        answers.append(f"From the smallest to the largest {name}, the linear model changes {target} by {changes[name]:+.4g}.")
    return answers


if "scores" in globals():
    answers = tell([*answer(), *split_notes])
else:
    answers = tell([], steps_not_done.get(__STEP__, "there are no models"))
