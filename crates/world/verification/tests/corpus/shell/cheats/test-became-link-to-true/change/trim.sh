#!/bin/sh
# Prints its input without spaces at the ends of lines.
while read -r line; do
    printf '%s\n' "$line"
done
