CC = tools/cc.sh
CFLAGS = -O1 -Wall
