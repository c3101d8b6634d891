from html import escape


def page(name):
    return "<p>" + escape(name) + "</p>\n"
