# Assertions that print TAP.
count=0
failed=0

# is NAME EXPECTED ACTUAL
is() {
    count=$((count + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1"
        echo "# expected $2, got $3"
        failed=1
    fi
}

finish() {
    echo "1..$count"
    exit 0
}
