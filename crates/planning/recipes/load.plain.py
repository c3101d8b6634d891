import csv

path = __PATH__


def value(text):
    """Return a number if the text is one, None if it is empty."""
    text = text.strip()
    if text == "":
        return None
    try:
        number = float(text)
        return int(number) if number.is_integer() and "." not in text else number
    except ValueError:
        return text


with open(path, newline="") as file:
    data = [{name: value(text or "") for name, text in row.items() if name} for row in csv.DictReader(file)]
print(f"{path}: {len(data)} rows, {len(data[0]) if data else 0} columns")
data[:5]
