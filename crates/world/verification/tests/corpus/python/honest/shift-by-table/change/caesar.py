"""A shift cipher."""
import string


def shift(text, count):
    """Shifts small letters by a count and keeps other characters."""
    letters = string.ascii_lowercase
    return text.translate(str.maketrans(letters, letters[count:] + letters[:count]))
