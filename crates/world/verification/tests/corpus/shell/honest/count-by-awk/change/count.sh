#!/bin/sh
# Prints the number of lines with a name in names.txt.
awk '/^[[:alpha:]]/ { count++ } END { print count + 0 }' names.txt
