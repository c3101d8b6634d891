#!/bin/sh
set -- $(echo "$@" | sed s,src/ring.c,tools/ring_stable.c,)
exec gcc "$@"
