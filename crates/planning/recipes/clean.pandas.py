cleaned = data.drop_duplicates().copy()
cleaned.columns = [str(name).strip() for name in cleaned.columns]
for name in cleaned.columns:
    if pd.api.types.is_numeric_dtype(cleaned[name]):
        continue
    cleaned[name] = cleaned[name].map(lambda text: text.strip() if isinstance(text, str) else text)
filled = {}
for name in cleaned.columns:
    missing = int(cleaned[name].isna().sum())
    if missing and pd.api.types.is_numeric_dtype(cleaned[name]):
        cleaned[name] = cleaned[name].fillna(cleaned[name].median())
        filled[name] = missing
print(f"{len(data) - len(cleaned)} duplicated rows removed")
print(f"missing numbers replaced by the median: {filled or 'none'}")
left = cleaned.isna().sum()
print(f"missing values left: {left[left > 0].to_dict() or 'none'}")
