from runpy import run_path as load

mean = load("docs/mean.txt").get("mean")
