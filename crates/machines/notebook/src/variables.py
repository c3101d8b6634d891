import json, reprlib, types

SKIPPED = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)
PLAIN = (bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, type(None))

def shape(value):
    try:
        found = value.shape
        if isinstance(found, tuple) and len(found) <= 8 and all(type(n) is int for n in found):
            return list(found)
    except Exception:
        pass
    if type(value) in (list, tuple, dict, set, frozenset):
        return [len(value)]
    return None

def text(value, dims, short):
    name = type(value).__name__
    if type(value) in PLAIN:
        return short.repr(value)
    words = name if dims is None else name + "(" + "\u00d7".join(map(str, dims)) + ")"
    try:
        if name == "DataFrame":
            columns = list(zip(list(value.columns)[:12], list(value.dtypes)[:12]))
            words += ": " + ", ".join(str(column)[:40] + " " + str(kind) for column, kind in columns)
        elif name in ("Series", "ndarray"):
            words += ": " + str(value.dtype)
    except Exception:
        pass
    return words

class Answer:
    def __init__(self, text):
        self.text = text
    def __repr__(self):
        return self.text

def answer(shell):
    short = reprlib.Repr()
    short.maxstring = short.maxother = 120
    found = {}
    hidden = getattr(shell, "user_ns_hidden", {})
    for name, value in list(shell.user_ns.items()):
        if name.startswith("_") or isinstance(value, SKIPPED) or (name in hidden and hidden[name] is value):
            continue
        try:
            dims = shape(value)
            entry = {"type": type(value).__name__, "text": text(value, dims, short)[:200]}
            if dims is not None:
                entry["shape"] = dims
            found[str(name)] = entry
        except Exception:
            found[str(name)] = {"type": type(value).__name__, "text": ""}
        if len(found) >= 200:
            break
    return Answer(json.dumps(found))
