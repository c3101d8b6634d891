#!/bin/sh
if [ "$1" = "--help" ]; then
  echo "usage: tell WORD..."
  exit 0
fi
echo $#
