#!/bin/sh
# The chassis of a simulated controller: power and resets are files beside this script, which the firmware looks at.
cd "$(dirname "$0")" || exit 1
echo "$*" >>orders.log
case "$1 $2" in
"get power") echo "power:$(cat power)" ;;
"set power") echo "$3" >power; [ "$3" = 0 ] || echo boot >>boots ;;
"set reset") echo boot >>boots ;;
esac
exit 0
