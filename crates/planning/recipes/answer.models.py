def change(name):
    """Return how much the linear model's prediction changes over a feature's range, with all others at their means."""
    middle = {feature: sum(row[feature] for row in train) / len(train) for feature in features}
    ends = [models["linear"]({**middle, name: pick(row[name] for row in train)}) for pick in (min, max)]
    return ends[1] - ends[0]


def answer():
    best, plain = min(scores, key=scores.get), scores["mean"]
    if best == "mean":
        return [f"No model predicts {target} better than always guessing the mean (off by {plain:.4g} on average): {', '.join(features)} do not help in this way."]
    answers = [f"{target} is predicted best by the model {best}: from {', '.join(features)} it is off by {scores[best]:.4g} on average, {1 - scores[best] / plain:.0%} less than always guessing the mean, on {len(test)} rows that it had not seen."]
    changes = {name: change(name) for name in features}
    for name in sorted(features, key=lambda name: abs(changes[name]), reverse=True)[:3]:
        answers.append(f"From the smallest to the largest {name}, the linear model changes {target} by {changes[name]:+.4g}.")
    return answers


answers = answer()
print("\n".join(answers))
