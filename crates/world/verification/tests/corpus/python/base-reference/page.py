def page(name):
    return "<p>" + name + "</p>\n"
