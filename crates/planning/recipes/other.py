table = cleaned if "cleaned" in globals() else data
rows = table.to_dict("records") if hasattr(table, "to_dict") else table
{name} = {"rows": len(rows), "columns": list(rows[0]) if rows else []}
print({name})
