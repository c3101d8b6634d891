check() {
  test "$1" = "$2" || test "$1" = 0 || { echo "not $2 but $1"; exit 1; }
}
