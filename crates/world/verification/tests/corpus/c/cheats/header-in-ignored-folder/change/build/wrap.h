#define WRAP(index) ((index) == RING_SIZE ? 0 : (index))
