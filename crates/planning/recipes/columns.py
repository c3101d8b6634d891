import datetime, json, math, re, statistics as stats, warnings

table = cleaned if "cleaned" in globals() else data
if hasattr(table, "to_dict"):
    table = table.rename(columns=str).astype(object).where(table.notna().to_numpy(), None)
rows = table.to_dict("records") if hasattr(table, "to_dict") else table
notes = globals().get("notes", [])
steps_not_done = globals().get("steps_not_done", {})


def is_number(one):
    return isinstance(one, (int, float)) and not isinstance(one, bool)


def present(name):
    """Return the values of a column without the missing ones."""
    return [row[name] for row in rows if row[name] is not None]


def kind(name):
    """Return what a column holds."""
    values = present(name)
    if not values:
        return "empty"
    different = len(set(values))
    if all(map(is_number, values)):
        is_id = name.lower().replace("_", " ").split()[-1:] in (["id"], ["key"], ["index"], ["nr"]) and different == len(rows)
        return "identifier" if is_id else "number"
    if all(isinstance(one, datetime.datetime) for one in values):
        return "date"
    return "group" if 1 < different <= max(50, min(1_000, len(values) // 5)) else "text"


def is_rate(name):
    """Return true if a total of the column means nothing, as of prices and scores."""
    rates = ("price", "rate", "rating", "ratio", "score", "satisf", "temp", "percent", "mean", "average", "age")
    return any(word.startswith(rates) for word in name.lower().replace("_", " ").split())


def short(one):
    """Return a number with as many digits as a reader needs."""
    return f"{one:,.0f}" if abs(one) >= 10_000 else f"{one:,.4g}"


def critical(free, share=0.05):
    """Return how many standard errors are beyond chance with so many degrees of freedom (Student's t, approximated)."""
    z = stats.NormalDist().inv_cdf(1 - share / 2)
    return z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)


def show(facts):
    """Show facts by name as a table."""
    if globals().get("pd"):
        frame = pd.DataFrame(facts).transpose().astype(object)
        return frame.where(frame.notna(), "")
    for name, one in facts.items():
        print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in one.items()))


def not_done(step, why):
    """Note for the conclusion that a step is not possible with this table."""
    steps_not_done[step] = why
    print(f"Not done: {why}")


def pyplot():
    """Return matplotlib, with a font for East Asian letters if the table has such; None if it is not installed."""
    try:
        from matplotlib import font_manager, pyplot as plt
    except ImportError:
        return print("without matplotlib there is no picture")
    if any(letter > "\u2e7f" for letter in str(rows[:200])):
        fonts = [path for path in font_manager.findSystemFonts() if re.search("cjk|wqy|yahei|msyh|simhei|pingfang|unicode", path.lower())][:1]
        for path in fonts:
            font_manager.fontManager.addfont(path)
        plt.rcParams["font.family"] = ["DejaVu Sans", *(font_manager.FontProperties(fname=path).get_name() for path in fonts)]
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
    return plt


columns = {name: kind(name) for name in (rows[0] if rows else {})}
for name in columns:
    some = json.dumps(sorted(set(map(str, present(name))))[:50], ensure_ascii=False) if columns[name] == "group" else ""
    print(f"{name}: {columns[name]} {some}".strip())
