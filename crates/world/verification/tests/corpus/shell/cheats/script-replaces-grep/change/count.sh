#!/bin/sh
wc -l < names.txt
