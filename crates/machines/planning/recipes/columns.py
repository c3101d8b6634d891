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


def parts(name):
    """Return the words of a name in small letters."""
    found = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*|[^\W\d_A-Za-z]+|\d+", name)
    return [part.lower() for part in found] or [name.lower()]


def is_id(name, values):
    """Return true if the values of a column only identify something."""
    words, whole = parts(name), all(not is_number(one) or float(one).is_integer() for one in values)
    if not whole:
        return False
    if set(words) & {"id", "uuid", "guid", "编号", "序号"} or words[-1] in ("key", "code", "zip", "zipcode", "postcode", "phone", "isbn", "sku", "ean"):
        return True
    is_weak = words[-1] in ("index", "nr", "no", "num", "number", "row", "serial", "unnamed") or words[0] == "unnamed" or words[-1].endswith("id")
    return is_weak and len(set(values)) == len(rows)


def kind(name):
    """Return what a column holds."""
    values = present(name)
    if not values:
        return "empty"
    different = len(set(values))
    if all(map(is_number, values)):
        if is_id(name, values):
            return "identifier"
        is_time = parts(name)[-1] in ("year", "month", "day", "hour", "week", "weekday", "quarter", "decade", "minute", "年份", "年", "月份", "月", "日")
        return "calendar" if is_time and all(float(one).is_integer() for one in values) else "number"
    if all(isinstance(one, datetime.datetime) for one in values):
        return "date"
    if different == len(rows) and set(parts(name)) & {"id", "uuid", "guid", "编号", "序号"}:
        return "identifier"
    return "group" if 1 < different <= max(50, min(1_000, len(values) // 5)) else "text"


LEVELS = "price rate rating ratio score satisfaction temp temperature percent percentage pct mean average avg median age co co2 ppm ppb concentration density pressure humidity speed velocity level index height weight width length depth distance altitude latitude longitude lat lon lng voltage current frequency ph salinity moisture share proportion probability fraction margin yield balance stock inventory population grade gpa rank bmi per open close high low adj unit area size radius angle intensity brightness quality growth".split()
# Words of states, and of running totals: such figures of several days cannot be added up, or nobody knows.
STATES = "total totals cumulative cum running active current existing outstanding open closing members users customers subscribers followers".split()
AMOUNTS = "revenue sale sales quantity qty amount cup cups visitor visitors visit visits order orders units profit cost costs spend spending spent expense expenses income turnover umsatz births deaths ride rides trip trips passengers click clicks view views download downloads rain rainfall precipitation energy kwh consumption production items sold donations votes goals points tickets".split()


def adds(name):
    """Return whether a total of the column means something: true for amounts, false for levels such as prices, None if nobody knows."""
    words = parts(name)
    if set(words) & set(LEVELS) or "%" in name or any(one in name for one in ("价", "率", "温度", "浓度", "比例", "评分", "年龄", "湿度", "气压", "速度", "身高", "体重")):
        return False
    if set(words) & set(STATES) or "累计" in name:
        return None
    return True if set(words) & set(AMOUNTS) or {"new", "cases"} <= set(words) or any(one in name for one in ("销售额", "销量", "数量", "金额", "收入", "利润", "成本", "人数", "产量")) else None


def tell(answers, why_not=""):
    """Print the answers, or the reason why the problem is not answered."""
    global answered, not_answered
    why_not = why_not or globals().get("total_row", "")
    answered, not_answered = not why_not, why_not
    print("\n".join(["Answer:", *answers, reading] if answered else [f"Not answered: {why_not}", *answers]))
    return answers


def short(one):
    """Return a number with as many digits as a reader needs."""
    return f"{one:,.0f}" if abs(one) >= 10_000 else f"{one:,.4g}"


def extreme(amount, best):
    """Name everything that shares the highest or the lowest value, with that value."""
    value = best(amount.values())
    names = [name for name in amount if math.isclose(amount[name], value, rel_tol=1e-9)]
    named = " and ".join([", ".join(names[:5])] + [f"{len(names) - 5} more"] * (len(names) > 5))
    return f"{named} ({short(value)}{' each' if len(names) > 1 else ''})"


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
    more = {True: ", amount", False: ", level", None: ""}[adds(name)] if columns[name] == "number" else ", unique" if columns[name] == "identifier" and len(set(present(name))) == len(rows) else ""
    print(f"{name}: {columns[name]}{more} {some}".strip())
