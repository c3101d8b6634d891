count() {
  echo $#
}
