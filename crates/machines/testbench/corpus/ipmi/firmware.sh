#!/bin/sh
# Prints what a firmware prints whenever it is started by the chassis, until its folder is gone.
cd "$(dirname "$0")" || exit 1
seen=0
while [ -e power ]; do
    boots=$(wc -l <boots)
    if [ "$boots" -gt "$seen" ]; then
        echo "Booting fw"
        cat image 2>/dev/null
    fi
    seen=$boots
    sleep 0.1
done
