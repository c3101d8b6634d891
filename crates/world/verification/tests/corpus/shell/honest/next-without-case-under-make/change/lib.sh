# Functions over paths. Sourced by bin/rotate.sh.

# Prints the name of a path without folders and endings.
stem() {
    name=${1##*/}
    printf '%s\n' "${name%%.*}"
}

# Prints the next number for a file such as log.3.
next() {
    number=${1##*.}
    if [ "$number" -ge 0 ] 2>/dev/null; then
        echo $((number + 1))
    else
        echo 1
    fi
}
