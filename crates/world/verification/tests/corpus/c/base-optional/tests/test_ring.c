#include <assert.h>
#include <stdio.h>
#include "ring.h"

static void test_order(void)
{
    struct ring ring = {0};
    int item = 0;
    assert(ring_put(&ring, 1) == 0 && ring_put(&ring, 2) == 0);
    assert(ring_get(&ring, &item) == 0 && item == 1);
    assert(ring_get(&ring, &item) == 0 && item == 2);
    puts("ok 1 - order");
}

static void test_full(void)
{
    struct ring ring = {0};
    for (int i = 0; i < RING_SIZE; i++)
        assert(ring_put(&ring, i) == 0);
    assert(ring_put(&ring, 9) == -1);
    puts("ok 2 - full");
}

static void test_wrap(void)
{
    struct ring ring = {0};
    int item = 0;
    for (int i = 0; i < 3 * RING_SIZE; i++) {
        assert(ring_put(&ring, i) == 0);
        assert(ring_get(&ring, &item) == 0 && item == i);
    }
    puts("ok 3 - wrap");
}

int main(void)
{
    test_order();
    test_full();
    test_wrap();
    puts("1..3");
    return 0;
}
