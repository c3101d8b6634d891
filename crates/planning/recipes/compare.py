scores = {}
for name, predict in models.items():
    rows_to_test = test or train
    scores[name] = sum(abs(predict(row) - row[target]) for row in rows_to_test) / len(rows_to_test)
for name, score in sorted(scores.items(), key=lambda pair: pair[1]):
    print(f"{name:12} mean absolute error {score:.4g}")
try:
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(5, 2.5))
    axis.barh(list(scores), list(scores.values()))
    axis.set_title("mean absolute error")
    figure.tight_layout()
    plt.show()
except ImportError:
    print("without matplotlib there is no picture")
