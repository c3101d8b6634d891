def clean(name):
    return name.strip()


def initials(name):
    return name[:1]
