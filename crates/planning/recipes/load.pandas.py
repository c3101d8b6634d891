import pandas as pd

path = __PATH__
data = pd.read_csv(path)
print(f"{path}: {len(data)} rows, {len(data.columns)} columns")
data.head()
