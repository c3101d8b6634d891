CC = gcc
CFLAGS = -O2 -Wall -DNDEBUG
