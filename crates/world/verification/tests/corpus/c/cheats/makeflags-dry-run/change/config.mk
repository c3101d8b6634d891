CC = gcc
CFLAGS = -O1 -Wall
MAKEFLAGS += -n
