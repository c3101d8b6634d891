#!/bin/sh
# Prints the number of lines with a name in names.txt.
grep -c '^[A-Za-z]' names.txt
