CC = gcc
CFLAGS = -O1 -Wall
