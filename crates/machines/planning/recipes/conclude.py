class Findings(list):
    """Sentences that a notebook shows as a list."""

    def _repr_markdown_(self):
        return "\n".join(f"- {one}" for one in self)

    __repr__ = _repr_markdown_


def conclude():
    found = Findings(globals().get("answers", []))
    if globals().get("answered"):
        found.insert(0, reading)
    else:
        found.insert(0, f"The problem is not answered: {globals().get('not_answered') or steps_not_done.get('answer') or 'its figures failed'}.")
    pairs = globals().get("correlations", {})
    sure = {pair: one for pair, (one, count) in pairs.items() if count > 3 and abs(one) * math.sqrt(count) > critical(count - 2, 0.05 / len(pairs))}
    if sure:
        one, other = max(sure, key=lambda pair: abs(sure[pair]))
        found.append(f"The strongest correlation is between {one} and {other}: {sure[one, other]:.2f}.")
    found.append(f"The table has {len(rows)} rows and {len(columns)} columns.")
    repeated = len(rows) - len({tuple(row.values()) for row in rows})
    if repeated:
        found.append(f"{repeated} of these rows repeat an earlier row; they are kept and counted.")
    missing = {name: len(rows) - len(present(name)) for name in columns}
    missing = [f"{name} ({missing[name]} of {len(rows)})" for name in sorted(missing, key=missing.get, reverse=True) if missing[name]]
    if missing:
        more = f" and {len(missing) - 8} further columns" if len(missing) > 8 else ""
        found.append(f"Missing values are left out, not filled in: {', '.join(missing[:8])}{more}.")
    found += notes
    found += [f"Failed: step {step} ({error})." for step, error in __FAILED__.items()]
    for step, goal in steps_not_done.items():
        found.append(f"Not done: step {step}{f' ({goal})' if goal else ''}.")
    return found


conclusions = conclude()
conclusions
