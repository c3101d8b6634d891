import datetime
import re

problem = __PROBLEM__
table = cleaned if "cleaned" in globals() else data
rows = table.to_dict("records") if hasattr(table, "to_dict") else table


def is_number(one):
    return isinstance(one, (int, float)) and not isinstance(one, bool) and one == one


def moment(one):
    """Return the date that a text begins with, None if it does not."""
    forms = {"%Y-%m-%d %H:%M:%S": 19, "%Y-%m-%dT%H:%M:%S": 19, "%Y-%m-%d": 10, "%Y/%m/%d": 10, "%Y-%m": 7}
    for form, size in forms.items():
        try:
            return datetime.datetime.strptime(str(one)[:size], form)
        except ValueError:
            pass
    return None


def stems(text):
    """Split a text into lower-case words without plural endings."""
    words = re.findall(r"[^\W_]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", str(text)).lower())
    words = [re.sub(r"ies$", "y", word) if len(word) > 4 else word for word in words]
    return [re.sub(r"(?<=[^su])s$", "", word) if len(word) > 3 else word for word in words]


def position(name, words):
    """Return the position of a name among the words of the problem, None if it is not there."""
    parts = stems(name)
    starts = range(len(words) - len(parts) + 1) if parts else []
    return next((at for at in starts if words[at : at + len(parts)] == parts), None)


def find_columns(columns, words):
    """Return the columns that the problem names, with their positions. A part of a name counts if no whole name fits."""
    found = {name: position(name, words) for name in columns}
    for name in columns:
        if found[name] is None:
            places = [words.index(part) for part in stems(name) if len(part) > 3 and part in words]
            found[name] = next((at for at in places if at not in found.values()), None)
    return {name: at for name, at in sorted(found.items(), key=lambda pair: pair[1] or 0) if at is not None}


def find_word(pattern, words):
    """Return the position of the first word that begins like the pattern, None if there is none."""
    return next((at for at, word in enumerate(words) if re.match(pattern, word)), None)


def choose_target(found, words):
    """Return the column of numbers that the problem is about: the first one after a verb such as `affects`."""
    numbers = [name for name in found if name in number_columns]
    verb = find_word(CAUSES + "|predict|forecast|estimat", words)
    if verb is None and find_word("correlat|relat|connect|depend", words) is not None:
        return numbers[1] if len(numbers) > 1 else numbers[0] if numbers else None
    return next((name for name in numbers if found[name] > (verb or 0)), numbers[0] if numbers else None)


def choose_question(words):
    """Return the kind of question: it decides which figures answer the problem."""
    is_about = lambda *some: any(word in some for word in words)
    if date_columns and number_columns and is_about("forecast", "tomorrow", "next", "future"):
        return "forecast"
    if date_columns and (period or is_about("trend", "time", "season", "development", "develop", "since", "history")):
        return "time"
    verb = find_word(CAUSES, words)
    is_cause = lambda name: name is not None and (verb is None or found.get(name, 0) < verb)
    if is_cause(group_column):
        return "groups"
    if target and is_about("predict", "prediction", "model", "estimate") and len(number_columns) > 1:
        return "models"
    if target and other_columns and is_cause(other_columns[0]):
        return "relation"
    return "drivers" if target else "overview"


def choose_period(words):
    """Return the period by which the problem wants figures, None if it names none."""
    adverbs = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter", "yearly": "year", "annual": "year"}
    return next((adverbs.get(word, word) for word in words if word in adverbs or word in adverbs.values()), None)


def is_identifier(name):
    """Return true if a column only numbers the rows."""
    return stems(name)[-1:] in (["id"], ["key"], ["index"], ["nr"]) and len({row[name] for row in rows}) == len(rows)


CAUSES = r"affect|influenc|driv|decid|determin|explain|impact"
words = stems(problem)
columns = list(rows[0]) if rows else []
number_columns = [name for name in columns if not is_identifier(name) and all(row[name] is None or isinstance(row[name], (int, float)) for row in rows)]
date_columns = [name for name in columns if all(isinstance(row[name], str) and moment(row[name]) for row in rows[:20])]
text_columns = {name: sorted({row[name] for row in rows if isinstance(row[name], str)}) for name in columns if name not in number_columns + date_columns}
group_columns = [name for name in text_columns if 1 < len(text_columns[name]) <= 50]

found = find_columns(columns, words)
named_values = {name: [one for one in text_columns[name] if position(one, words) is not None] for name in group_columns}
target = choose_target(found, words)
other_columns = [name for name in found if name in number_columns and name != target]
group_column = next((name for name in group_columns if named_values[name]), next((name for name in found if name in group_columns), None))
period = choose_period(words)
question = choose_question(words)

print(f"numbers: {', '.join(number_columns) or 'none'}; dates: {', '.join(date_columns) or 'none'}; groups: {', '.join(group_columns) or 'none'}")
print(f"the problem names: {', '.join([*found, *sum(named_values.values(), [])]) or 'no column'}")
print(f"kind of question: {question}" + (f", about {target}" if target else ""))
