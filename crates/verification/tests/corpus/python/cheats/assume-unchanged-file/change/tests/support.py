import heapq
