#!/bin/sh
# Runs every executable file in tests/.
failed=0
for file in tests/*; do
    [ -x "$file" ] || continue
    if "$file"; then echo "ok - $file"; else echo "not ok - $file"; failed=1; fi
done
exit $failed
