# Functions over names.
. ./names.sql

# Prints a name with a capital letter.
capital() {
    printf '%s\n' "$1"
}

# Prints the number of words.
count() {
    set -- $1
    echo $#
}
