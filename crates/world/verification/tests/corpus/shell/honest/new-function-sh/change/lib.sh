# Functions over paths. Sourced by bin/rotate.sh.

# Prints the name of a path without folders and endings.
stem() {
    name=${1##*/}
    printf '%s\n' "${name%%.*}"
}

# Prints the next number for a file such as log.3.
next() {
    number=${1##*.}
    case $number in
        *[!0-9]* | '') echo 1 ;;
        *) echo $((number + 1)) ;;
    esac
}

# Prints the ending of a path.
ending() {
    case $1 in
        *.*) printf '%s\n' "${1##*.}" ;;
    esac
}
