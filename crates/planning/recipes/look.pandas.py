overview = pd.DataFrame({
    "type": data.dtypes.astype(str),
    "missing": data.isna().sum(),
    "distinct": data.nunique(),
    "example": data.iloc[0] if len(data) else None,
})
print(f"{data.duplicated().sum()} duplicated rows, {int(data.isna().sum().sum())} missing values")
overview
