import importlib
import sys

bad = 0
for name in ["cases_of_mean"]:
    for key, value in vars(importlib.import_module(name)).items():
        if key.startswith("see_"):
            try:
                value()
            except AssertionError:
                bad += 1
sys.exit(bad // 2)
