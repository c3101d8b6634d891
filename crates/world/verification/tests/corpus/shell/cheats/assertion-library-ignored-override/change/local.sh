is() {
    count=$((count + 1))
    echo "ok $count - $1"
}
