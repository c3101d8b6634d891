#!/bin/sh
# Prints its input without spaces at the ends of lines.
sed 's/[[:space:]]*$//'
