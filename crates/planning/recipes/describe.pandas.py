table = cleaned if "cleaned" in globals() else data
statistics = table.describe(include="all").transpose()
numeric = table.select_dtypes(include="number")
if len(numeric.columns) > 1:
    pairs = numeric.corr().abs().where(lambda one: one < 1).stack().dropna().sort_values(ascending=False)
    print("strongest correlations:")
    print(pairs.iloc[::2].head(5).round(3).to_string())
for name in table.columns:
    if not pd.api.types.is_numeric_dtype(table[name]) and table[name].nunique() <= 12:
        print()
        print(table[name].value_counts().to_string())
statistics.round(3).astype(object).where(statistics.notna(), "")
