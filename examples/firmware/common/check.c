/* The test runner: one line for each case, then the sum. A case that was asked for and is not there is a failure. */
#include "check.h"

#include <setjmp.h>
#include <string.h>

#include "board.h"

#define COMMAND_LINE_MAX 256

static struct {
    const char *file;
    const struct check_case *running;
    jmp_buf end_of_case;
} check;

static void report(int line, const char *name, const char *result)
{
    board_print(check.file);
    board_print(":");
    board_print_number(line);
    board_print(":");
    board_print(name);
    board_print(":");
    board_print(result);
}

static void fail(int line)
{
    report(line, check.running->name, "FAIL: ");
}

static void end_case(void)
{
    board_print("\n");
    longjmp(check.end_of_case, 1);
}

void check_true(int holds, const char *message, int line)
{
    if (!holds) {
        fail(line);
        board_print(message);
        end_case();
    }
}

void check_equal(long expected, long actual, int line)
{
    if (expected != actual) {
        fail(line);
        board_print("Expected ");
        board_print_number(expected);
        board_print(" Was ");
        board_print_number(actual);
        end_case();
    }
}

void check_bytes(const void *expected, const void *actual, size_t count, int line)
{
    const uint8_t *left = expected;
    const uint8_t *right = actual;
    for (size_t i = 0; i < count; i++) {
        if (left[i] != right[i]) {
            fail(line);
            board_print("Byte ");
            board_print_number((long)i);
            board_print(" Expected ");
            board_print_number(left[i]);
            board_print(" Was ");
            board_print_number(right[i]);
            end_case();
        }
    }
}

/* The name after `--test ` or `--test=`, or NULL where all cases are to run. */
static const char *asked_for(char *line)
{
    static const char option[] = "--test";
    char *name = strstr(line, option);
    if (!name) {
        return NULL;
    }
    name += sizeof option - 1;
    if (*name == '=' || *name == ' ') {
        name++;
    }
    name[strcspn(name, " ")] = '\0';
    return name;
}

static int run_case(const struct check_case *this_case)
{
    check.running = this_case;
    if (setjmp(check.end_of_case)) {
        return 1;
    }
    this_case->run();
    report(this_case->line, this_case->name, "PASS\n");
    return 0;
}

int check_run(const char *file, const struct check_case *cases, size_t count)
{
    static char line[COMMAND_LINE_MAX];
    int failures = 0;
    int ran = 0;
    board_command_line(line, sizeof line);
    const char *only = asked_for(line);
    check.file = file;
    for (size_t i = 0; i < count; i++) {
        if (!only || strcmp(only, cases[i].name) == 0) {
            failures += run_case(&cases[i]);
            ran++;
        }
    }
    if (only && !ran) {
        report(0, only, "FAIL: There is no such case\n");
        failures = ran = 1;
    }
    board_print("-----------------------\n");
    board_print_number(ran);
    board_print(" Tests ");
    board_print_number(failures);
    board_print(" Failures 0 Ignored\n");
    board_print(failures ? "FAIL\n" : "OK\n");
    return failures ? 1 : 0;
}
