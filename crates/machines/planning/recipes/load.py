import collections, csv, datetime, io, re

try:
    import pandas as pd
except ImportError:
    pd = None  # the figures are the same without it

path = __PATH__
notes = __NOTES__  # what the conclusion has to say about the data
for name in ("data", "cleaned", "columns", "no_table", "total_row"):
    globals().pop(name, None)
MISSING = ("", "n/a", "#n/a", "nan", "null")
TOTALS = ("total", "totals", "grand total", "sum", "summe", "gesamt", "合计", "总计", "总和")
POINT = re.compile(r"[+-]?(([1-9]\d{0,2}(,\d{3})+|\d+)(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")  # such as 1,234.5
COMMA = re.compile(r"[+-]?([1-9]\d{0,2}(\.\d{3})+|\d+)(,\d+)?")  # such as 1.234,5
NEGATIVE = re.compile(r"\((\d[^()]*)\)")  # such as (1,234.5)
GAP = re.compile(r"(?<=\d)[ '’\u00a0\u202f](?=\d{3}(\D|$))")  # between thousands
CLOCK = r"(?:[T ](\d{1,2}):(\d\d)(?::(\d\d))?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?"
YEAR_FIRST = re.compile(r"((?:1[6-9]|2[01])\d\d)[-/.](\d{1,2})(?:[-/.](\d{1,2}))?" + CLOCK)
YEAR_LAST = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2((?:1[6-9]|2[01])\d\d)" + CLOCK)


def lines_of(path):
    """Return the lines of a file as lists of fields, its separator and its encoding."""
    with open(path, "rb") as file:
        raw = file.read()
    is_wide = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
    if b"\0" in raw and not is_wide:
        raise ValueError("it is not a text file")
    for code in ["utf-16"] if is_wide else ["utf-8-sig", "cp1252", "latin-1"]:
        try:
            text = raw.decode(code)
            break
        except UnicodeDecodeError:
            continue
    start = [line for line in text[:100_000].splitlines() if line.strip()][:50]

    def fit(separator):
        """Return the share of lines that are as wide as the first one, and that width."""
        widths = [len(line) for line in csv.reader(start, delimiter=separator)]
        return (widths.count(widths[0]) / len(widths), widths[0]) if max(widths[:1], default=1) > 1 else (0, 0)

    separator = max(",;\t|", key=fit)
    lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if line]
    return lines, separator, code.replace("-sig", "")


def names_of(header):
    """Return the names of the columns, on one line each and all different."""
    names = []
    for at, name in enumerate(header, 1):
        name = " ".join(name.split()) or f"column {at}"
        if name in names:
            notes.append(f"There are several columns with the name {name}; the one in place {at} is called {name} ({at}).")
        while name in names:
            name = f"{name} ({at})"
        names.append(name)
    if any(POINT.fullmatch(name) for name in names):
        notes.append("The first line of the file is taken as the names of the columns, although it looks like data.")
    return names


def form_of(texts):
    """Return the form of the numbers among texts; None if both forms fit."""
    some = [GAP.sub("", NEGATIVE.sub(r"-\1", text)) for text in list(texts)[:: 1 + len(texts) // 2_000]]
    fits = [(bool(POINT.fullmatch(text)), bool(COMMA.fullmatch(text))) for text in some]
    points, commas = fits.count((True, False)), fits.count((False, True))
    return POINT if points > commas else COMMA if commas > points else None


def number(text, form):
    """Return the number that a text is, None if it is none."""
    text = NEGATIVE.sub(r"-\1", text)
    if not form.fullmatch(text):
        text = GAP.sub("", text)
        if not form.fullmatch(text):
            return None
    text = text.replace(",", "") if form == POINT else text.replace(".", "").replace(",", ".")
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def date(text, is_day_first):
    """Return the date that a text is, None if it is none."""
    if found := YEAR_FIRST.fullmatch(text):
        year, month, day, *clock = found.groups()
    elif found := YEAR_LAST.fullmatch(text):
        day, mark, month, year, *clock = found.groups()
        day, month = (day, month) if mark == "." or is_day_first else (month, day)
    else:
        return None
    try:
        return datetime.datetime(int(year), int(month), int(day or 1), *(int(part or 0) for part in clock))
    except ValueError:
        return None


def meanings(name, texts, form):
    """Return the values of the different texts of a column. At least 80 % of them must be numbers or dates to be read as such."""
    is_enough = lambda values: 0 < 0.8 * sum(texts.values()) <= sum(texts[text] for text in texts if values[text] is not None)
    same = {text: text for text in texts}
    if any(text[0] == "0" and len(text) > 1 and text.isdigit() for text in texts):
        return same  # codes such as 01234 are no numbers
    values = {text: number(text, form or POINT) for text in texts}
    if is_enough(values):
        written = [text for text in texts if values[text] is not None]
        for mark, what in (",", "commas"), (".", "dots"):
            if form is None and any(mark in text for text in written):
                notes.append(f"{name} stays text: its {what} can be decimal {what} or stand between thousands.")
                return same
        if any(map(NEGATIVE.search, written)):
            notes.append(f"{name} is read with negative numbers in parentheses.")
        if form == COMMA and any("," in text or "." in text for text in written):
            notes.append(f"{name} is read with a decimal comma (1.234,5).")
        elif any("," in text or GAP.search(text) for text in written):
            notes.append(f"{name} is read with separated thousands (1,234.5).")
        return values
    parts = [found.groups() for found in map(YEAR_LAST.fullmatch, texts) if found]
    first, second = (max((int(part[at]) for part in parts if part[1] != "."), default=0) for at in (0, 2))
    values = {text: date(text, first > 12) for text in texts}
    if not is_enough(values) and not is_enough({text: YEAR_LAST.fullmatch(text) for text in texts}):
        return same
    if first and (first > 12) == (second > 12):
        notes.append(f"{name} stays text: its dates can begin with the day or with the month.")
        return same
    if parts:
        notes.append(f"{name} is read as dates that begin with the {'month' if second > 12 else 'day'}.")
    return values


def load(path):
    """Return the columns of a file: lists of values by name."""
    if path is None:
        raise ValueError("there is no CSV file. Put one into the directory, or name it in `variables.csv_file_path`")
    lines, separator, code = lines_of(path)
    if not lines:
        raise ValueError("the file is empty")
    names, lines = names_of(lines[0]), lines[1:]
    if not lines:
        raise ValueError(f"it has {len(names)} columns ({', '.join(names)}), but no rows")
    print(f"{path}: {len(lines)} rows, {len(names)} columns, separated by {separator!r}, encoding {code}")
    if code not in ("utf-8", "utf-16"):
        notes.append(f"{path} is not UTF-8; it is read as {code}.")
    longer = sum(len(line) > len(names) for line in lines)
    if longer:
        notes.append(f"{longer} rows have more fields than there are columns; the additional fields are left out.")
    fields = {name: [line[at].strip() if at < len(line) else "" for line in lines] for at, name in enumerate(names)}
    global total_row
    if sums := [text.strip() for text in lines[-1] if text.strip(" :").lower() in TOTALS]:
        total_row = f"the last row of the table is called {sums[0]}, so it is no row like the others; remove it"
        notes.append(f"The last row is called {sums[0]}; it is counted like the others.")
    texts = {name: collections.Counter(one for one in fields[name] if one.lower() not in MISSING) for name in names}
    forms = {name: form_of(texts[name]) for name in names}
    known = set(forms.values()) - {None}
    for name in names:
        plain = collections.Counter({text: count for text, count in texts[name].items() if text.lower() != "na"})
        values = meanings(name, plain, forms[name] or (known.copy().pop() if len(known) == 1 else None))
        if all(isinstance(one, str) for one in values.values()) and len(plain) < len(texts[name]):
            values |= {text: text for text in texts[name]}
            notes.append(f"{name} has texts: NA is one of them, and no missing value.")
        odd = [text for text in fields[name] if text and values.get(text) is None]
        if odd:
            notes.append(f"{len(odd)} of {len(lines)} values of {name} count as missing, because they are texts such as {odd[0]!r}.")
        fields[name] = [values.get(text) for text in fields[name]]
    return fields


try:
    fields = load(path)
    data = pd.DataFrame(fields) if pd else [dict(zip(fields, row)) for row in zip(*fields.values())]
    print("\n".join(notes))
except (OSError, ValueError, csv.Error) as error:
    why = f"{path} cannot be read: {error.strerror}" if isinstance(error, OSError) else f"{path or 'No table'}: {error}"
    no_table = f"{why}. So nothing is analysed."
    print(no_table)
(data.head() if pd else data[:5]) if "data" in globals() else None
