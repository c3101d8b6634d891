collect_ignore = ["test_stats.py"]
