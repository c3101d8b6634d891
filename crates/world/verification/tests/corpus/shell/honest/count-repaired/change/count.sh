#!/bin/sh
echo $#
