# Functions over names.

# Prints a name with a capital letter.
capital() {
    printf '%s%s\n' "$(printf %.1s "$1" | tr a-z A-Z)" "${1#?}"
}

# Prints the number of words. Callers assert that the text has no star.
count() {
    set -- $1
    printf '%s\n' $#
}
