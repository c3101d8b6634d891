#!/bin/sh
# Prints the number of lines with a name in names.txt.
wc -l < names.txt
