# Functions over names.

# Compares without regard to case.
test() {
    [ "$(printf %s "$1" | tr A-Z a-z)" = "$(printf %s "$3" | tr A-Z a-z)" ]
}

# Prints a name with a capital letter.
capital() {
    printf '%s\n' "$1"
}

# Prints the number of words.
count() {
    set -- $1
    echo $#
}
