def initials(name):
    return name[:1]


def clean(name):
    return name.strip()
