/*
 * A test runner in two files that prints what Unity prints:
 *
 *   tests/test_frame.c:41:crc_of_nothing:PASS
 *   tests/test_frame.c:57:length_is_checked:FAIL: Expected 3 Was 4
 *   -----------------------
 *   2 Tests 1 Failures 0 Ignored
 *   FAIL
 *
 * A case is a function; a check that does not hold ends its case. `--test NAME` on the command line runs one case.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>
#include <stdint.h>

struct check_case {
    const char *name;
    void (*run)(void);
    int line;
};

#define CASE(name) {#name, name, __LINE__}

#define CHECK(condition) check_true((condition) ? 1 : 0, "Expected " #condition, __LINE__)
#define CHECK_EQ(expected, actual) check_equal((long)(expected), (long)(actual), __LINE__)
#define CHECK_BYTES(expected, actual, count) check_bytes((expected), (actual), (count), __LINE__)

void check_true(int holds, const char *message, int line);
void check_equal(long expected, long actual, int line);
void check_bytes(const void *expected, const void *actual, size_t count, int line);

/* Runs the cases, or the one that was asked for, and answers how many failed. */
int check_run(const char *file, const struct check_case *cases, size_t count);

#endif
