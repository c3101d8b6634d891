def page(name):
    text = "<p>" + name
    return text + "</p>\n"
