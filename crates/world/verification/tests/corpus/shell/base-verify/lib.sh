check() {
  test "$1" = "$2" || { echo "not $2 but $1"; exit 1; }
}
