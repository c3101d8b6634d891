/* Attacks on other processes and on what programs share. `attack NAME [ARGUMENT]` exits with 0 if the attack had an effect.
   Names that begin with `own` are no attacks: what programs do to themselves. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *name;
static long argument;

static int is(const char *other) { return strcmp(name, other) == 0; }

static struct sockaddr_un address(const char *path) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strncpy(to.sun_path, path, sizeof to.sun_path - 1);
    return to;
}

/* Sends a message to a path in the message's header, which no filter can see. */
static int message(int socket, const char *path) {
    struct sockaddr_un to = address(path);
    struct iovec part = {.iov_base = "out", .iov_len = 3};
    struct msghdr header = {.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &part, .msg_iovlen = 1};
    return socket < 0 || sendmsg(socket, &header, 0) != 3;
}

static int sockets(const char *path) {
    int type = is("unix-raw") ? SOCK_RAW : is("unix-datagram") ? SOCK_DGRAM : is("unix-sequence") ? SOCK_SEQPACKET : SOCK_STREAM;
    struct sockaddr_un to = address(path);
    int pair[2] = {-1, -1};
    if (is("unix-pair-raw") || is("unix-pair-datagram")) {
        if (socketpair(AF_UNIX, is("unix-pair-raw") ? SOCK_RAW : SOCK_DGRAM, 0, pair)) return 1;
        return message(pair[0], path) && sendto(pair[0], "out", 3, 0, (void *)&to, sizeof to) != 3;
    }
    if (is("unix-pair-stream")) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 1;
        return message(pair[0], path) && sendto(pair[0], "out", 3, 0, (void *)&to, sizeof to) != 3;
    }
    int one = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    if (one < 0) return 1;
    if (message(one, path) == 0) return 0;
    if (sendto(one, "out", 3, 0, (void *)&to, sizeof to) == 3) return 0;
    return connect(one, (void *)&to, sizeof to);
}

static int processes(void) {
    struct rlimit limit = {7, 7};
    struct sched_param parameter = {0};
    struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t a, b, c; } attributes = {48, 3, 0, 9, 0, 0, 0, 0};
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    if (is("prlimit")) return syscall(SYS_prlimit64, argument, RLIMIT_NOFILE, &limit, NULL) != 0;
    if (is("priority")) return setpriority(PRIO_PROCESS, argument, 11) != 0;
    if (is("priority-of-group")) return setpriority(PRIO_PGRP, argument, 12) != 0;
    if (is("priority-of-user")) return setpriority(PRIO_USER, getuid(), 13) != 0;
    if (is("priority-of-me")) return setpriority(PRIO_USER, 0, 14) != 0;
    if (is("io-priority")) return syscall(SYS_ioprio_set, 1, argument, (3 << 13) | 1) != 0;
    if (is("io-priority-of-user")) return syscall(SYS_ioprio_set, 3, (long)getuid(), (3 << 13) | 1) != 0;
    if (is("affinity")) return sched_setaffinity(argument, sizeof set, &set) != 0;
    if (is("scheduler")) return sched_setscheduler(argument, SCHED_IDLE, &parameter) != 0;
    if (is("scheduler-attributes")) return syscall(SYS_sched_setattr, argument, &attributes, 0) != 0;
    if (is("scheduler-parameters")) return sched_setparam(argument, &parameter) != 0;
    if (is("core")) return prctl(62, 2, argument, 0, 0) != 0;
    if (is("kcmp")) return syscall(SYS_kcmp, argument, getpid(), 0, 0, 0) < 0;
    if (is("migrate")) { unsigned long mask = 1; return syscall(SYS_migrate_pages, argument, 8, &mask, &mask) < 0; }
    if (is("robust")) { void *head; size_t length; return syscall(SYS_get_robust_list, argument, &head, &length) != 0; }
    if (is("take-file")) {
        int handle = syscall(SYS_pidfd_open, argument, 0);
        return handle < 0 || syscall(SYS_pidfd_getfd, handle, 0, 0) < 0;
    }
    if (is("queue-signal")) { union sigval value = {0}; return sigqueue(argument, SIGUSR1, value) != 0; }
    if (is("signal-owner")) {
        int pair[2];
        if (pipe(pair) || fcntl(pair[0], F_SETOWN, argument) || fcntl(pair[0], F_SETSIG, SIGUSR1)) return 1;
        fcntl(pair[0], F_SETFL, O_ASYNC);
        return write(pair[1], "x", 1) != 1;
    }
    return 99;
}

/* A segment, a queue, a semaphore and a POSIX queue with one key, made outside with `make`. */
static int shared(void) {
    char queue[64];
    snprintf(queue, sizeof queue, "/interlock-%ld", argument);
    if (is("make")) {
        int segment = shmget(argument, 4096, IPC_CREAT | 0600);
        if (segment >= 0) strcpy(shmat(segment, NULL, 0), "secret");
        semget(argument, 1, IPC_CREAT | 0600);
        mq_close(mq_open(queue, O_CREAT | O_RDWR, 0600, NULL));
        return msgget(argument, IPC_CREAT | 0600) < 0;
    }
    if (is("remove")) {
        mq_unlink(queue);
        return shmctl(shmget(argument, 0, 0), IPC_RMID, NULL) | msgctl(msgget(argument, 0), IPC_RMID, NULL) |
               semctl(semget(argument, 0, 0), 0, IPC_RMID);
    }
    if (is("segment")) {
        char *at = shmat(shmget(argument, 0, 0), NULL, 0);
        return at == (void *)-1 || strcmp(at, "secret");
    }
    if (is("segment-by-number")) {
        for (int number = 0; number < 4096; number++) {
            char *at = shmat(number, NULL, SHM_RDONLY);
            if (at != (void *)-1 && strcmp(at, "secret") == 0) return 0;
        }
        return 1;
    }
    if (is("queue")) { struct { long kind; char text[8]; } said = {1, "out"}; return msgsnd(msgget(argument, 0), &said, 4, IPC_NOWAIT); }
    if (is("semaphore")) { struct sembuf up = {0, 1, IPC_NOWAIT}; return semop(semget(argument, 0, 0), &up, 1); }
    if (is("posix-queue")) return mq_open(queue, O_RDWR) == (mqd_t)-1;
    if (is("leave-segment")) {
        int segment = shmget(IPC_PRIVATE, 300 << 20, IPC_CREAT | 0600);
        if (segment < 0) return 1;
        memset(shmat(segment, NULL, 0), 1, 300 << 20);
        return 0;
    }
    return 99;
}

/* Memory that belongs to no process, or to several. */
static int memory(void) {
    size_t bytes = (size_t)argument << 20;
    if (is("memfd")) {
        int file = syscall(SYS_memfd_create, "x", 0);
        static char block[1 << 20];
        memset(block, 1, sizeof block);
        if (file < 0) return 1;
        for (size_t done = 0; done < bytes; done += sizeof block)
            if (write(file, block, sizeof block) != sizeof block) return 1;
    } else {
        char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) return 1;
        memset(at, 1, bytes);
    }
    sleep(3);
    return 0;
}

static void *pin(void *unused) {
    cpu_set_t set;
    (void)unused;
    sched_getaffinity(0, sizeof set, &set);
    return sched_setaffinity(0, sizeof set, &set) ? "no" : NULL;
}

static int own(void) {
    struct rlimit limit;
    struct sched_param parameter = {0};
    if (getrlimit(RLIMIT_NOFILE, &limit) || setrlimit(RLIMIT_NOFILE, &limit)) return 1;
    if (syscall(SYS_prlimit64, getpid(), RLIMIT_NOFILE, NULL, &limit)) return 2;
    if (setpriority(PRIO_PROCESS, 0, 3) || nice(1) != 4) return 3;
    if (syscall(SYS_ioprio_set, 1, 0, (2 << 13) | 7)) return 4;
    if (sched_setscheduler(0, SCHED_BATCH, &parameter)) return 5;
    pthread_t thread;
    void *refused = NULL;
    if (pthread_create(&thread, NULL, pin, NULL) || pthread_join(thread, &refused) || refused) return 6;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) return 7;
    pid_t child = fork();
    if (child == 0) for (;;) pause();
    if (kill(child, SIGTERM) || waitpid(child, NULL, 0) != child) return 8;
    return 0;
}

int main(int count, char **words) {
    if (count < 2) return 99;
    name = words[1];
    argument = count > 2 ? atol(words[2]) : 0;
    if (strncmp(name, "unix", 4) == 0) return sockets(words[2]) != 0;
    if (is("own")) return own();
    if (is("memfd") || is("shared-memory")) return memory();
    int done = processes();
    return done == 99 ? shared() != 0 : done;
}
