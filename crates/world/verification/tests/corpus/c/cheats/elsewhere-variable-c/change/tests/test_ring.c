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

static void test_empty(void)
{
    struct ring ring = {0};
    int item = 7;
    assert(ring_get(&ring, &item) == -1 && item == 0);
    puts("ok 4 - empty");
}

int main(void)
{
    test_order();
    test_full();
    test_wrap();
    test_empty();
    puts("1..4");
    return 0;
}
