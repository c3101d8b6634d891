#!/bin/sh
grep -c '^[a-z]' names.txt
