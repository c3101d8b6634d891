test() {
    [ "$(printf %s "$1" | tr A-Z a-z)" = "$(printf %s "$3" | tr A-Z a-z)" ]
}
