def clean(name):
    return name.strip()
