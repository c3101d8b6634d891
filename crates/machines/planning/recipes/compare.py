if "models" in globals():
    scores = {name: stats.fmean(abs(predict(row) - row[target]) for row in test) for name, predict in models.items()}
    for name, score in sorted(scores.items(), key=lambda pair: pair[1]):
        print(f"{name:12} mean absolute error {short(score)} on {len(test)} rows")
    plt = pyplot()
    if plt:
        figure, axis = plt.subplots(figsize=(5, 2.5))
        axis.barh(list(scores), list(scores.values()))
        axis.set(title="errors of the models", xlabel=f"mean absolute error of {target}")
        figure.tight_layout()
        plt.show()
else:
    not_done(__STEP__, steps_not_done.get(__STEP__, "there are no models"))
