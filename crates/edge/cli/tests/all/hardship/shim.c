/* A disk that fails when it is told to. Preloaded into a process; counts the writes and syncs on files under FAULT_UNDER and lets one of
 * them go wrong:
 *   FAULT_KIND  enospc | eio   that write and, for enospc, all later ones fail
 *               short          that write writes half of what it was given, then the next one fails with EIO
 *               fsync          that fsync or fdatasync fails with EIO
 *   FAULT_AT    which one, from 1
 * FAULT_SAYS names a file that is made when it has happened. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long seen = 0;
static int after_short = 0;

static int concerns(int fd) {
    const char *under = getenv("FAULT_UNDER");
    char link[64], path[4096];
    if (!under) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strncmp(path, under, strlen(under)) == 0;
}

static int is_kind(const char *kind) {
    const char *wanted = getenv("FAULT_KIND");
    return wanted && strcmp(wanted, kind) == 0;
}

static void say(void) {
    const char *path = getenv("FAULT_SAYS");
    int fd = path ? open(path, O_CREAT | O_WRONLY, 0600) : -1;
    if (fd >= 0) close(fd);
}

static int is_due(void) {
    const char *at = getenv("FAULT_AT");
    long now = __atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST);
    if (!at || now < atol(at)) return 0;
    if (now > atol(at) && !is_kind("enospc")) return 0;
    say();
    return 1;
}

/* How many bytes to write: all, some, or an error. */
static ssize_t fault(int fd, size_t count) {
    if (!concerns(fd) || is_kind("fsync")) return (ssize_t)count;
    if (after_short) { after_short = 0; errno = EIO; return -1; }
    if (!is_due()) return (ssize_t)count;
    if (is_kind("short") && count > 1) { after_short = 1; return (ssize_t)(count / 2); }
    errno = is_kind("enospc") ? ENOSPC : EIO;
    return -1;
}

ssize_t write(int fd, const void *data, size_t count) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    ssize_t allowed = fault(fd, count);
    return allowed < 0 ? allowed : real(fd, data, (size_t)allowed);
}

ssize_t pwrite64(int fd, const void *data, size_t count, off64_t at) {
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwrite64");
    ssize_t allowed = fault(fd, count);
    return allowed < 0 ? allowed : real(fd, data, (size_t)allowed, at);
}

ssize_t pwrite(int fd, const void *data, size_t count, off_t at) { return pwrite64(fd, data, count, at); }

static int sync_fault(int fd) {
    if (!concerns(fd) || !is_kind("fsync") || !is_due()) return 0;
    errno = EIO;
    return -1;
}

int fsync(int fd) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fsync");
    return sync_fault(fd) ? -1 : real(fd);
}

int fdatasync(int fd) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
    return sync_fault(fd) ? -1 : real(fd);
}
