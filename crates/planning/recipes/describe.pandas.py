table = cleaned if "cleaned" in globals() else data
statistics = table.describe(include="all").transpose()
numeric = table.select_dtypes(include="number")
if len(numeric.columns) > 1:
    matrix, names = numeric.corr(), list(numeric.columns)
    pairs = {(one, other): matrix.loc[one, other] for at, one in enumerate(names) for other in names[at + 1:]}
    pairs = pd.Series(pairs).dropna().sort_values(key=abs, ascending=False)
    print("strongest correlations:")
    print(pairs.head(5).round(3).to_string())
for name in table.columns:
    if not pd.api.types.is_numeric_dtype(table[name]) and table[name].nunique() <= 12:
        print()
        print(table[name].value_counts().to_string())
statistics.round(3).astype(object).where(statistics.notna(), "")
