table = cleaned if "cleaned" in globals() else data
rows = table.to_dict("records") if hasattr(table, "to_dict") else table
__NAME__ = {"rows": len(rows), "columns": list(rows[0]) if rows else []}
print(__NAME__)
