CC = gcc
CFLAGS = -O1 -Wall
SHELL = /bin/true
