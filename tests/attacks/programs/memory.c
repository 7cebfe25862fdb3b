/* memory KIND MEGABYTES [HOLD_S]: takes that much memory in one of many ways, says "held", and keeps
 * it for half a second or HOLD_S. Bounded by its argument, so that a missing wall can't hurt the
 * machine. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MB (1UL << 20)
enum { CHILD_S = 30 };
static double hold_s = 0.5;
static unsigned long megabytes;
static char filler[MB];

static void fail(const char *what) {
    perror(what);
    exit(3);
}

static void hold(void) {
    puts("held");
    fflush(stdout);
    usleep((unsigned)(hold_s * 1e6));
    _exit(0);
}

static void touch(unsigned long count, int flags) {
    for (unsigned long i = 0; i < count; i++) {
        char *at = mmap(NULL, MB, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (at == MAP_FAILED)
            fail("mmap");
        memset(at, 'x', MB);
    }
}

static void private_pages(void) { touch(megabytes, MAP_PRIVATE | MAP_ANONYMOUS); }
static void shared_pages(void) { touch(megabytes, MAP_SHARED | MAP_ANONYMOUS); }

static int memory_file(unsigned long count) {
    int fd = memfd_create("flood", 0);
    if (fd < 0)
        fail("memfd_create");
    for (unsigned long i = 0; i < count; i++)
        if (write(fd, filler, MB) != (ssize_t)MB)
            fail("write");
    return fd;
}

/* Written, never mapped: in no process's size. */
static void unmapped_file(void) { memory_file(megabytes); }

/* In a descriptor table that /proc/PID/fd of the process does not show. */
static void *in_own_table(void *arg) {
    if (unshare(CLONE_FILES) < 0)
        fail("unshare");
    memory_file(megabytes);
    return arg;
}

static void *hold_in_thread(void *arg) {
    in_own_table(arg);
    hold();
    return NULL;
}

static void table_of_a_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, hold_in_thread, NULL))
        fail("pthread_create");
    pthread_join(thread, NULL);
}

/* The first thread is gone: /proc/PID/statm and smaps show nothing of the others. */
static void *after_the_leader(void *arg) {
    usleep(50000);
    private_pages();
    hold();
    return arg;
}

static void leaderless(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, after_the_leader, NULL))
        fail("pthread_create");
    pthread_exit(NULL);
}

/* Memory files under way in a socket, open in no process. */
static void in_flight(void) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
        fail("socketpair");
    for (unsigned long left = megabytes; left > 0;) {
        unsigned long size = left < 64 ? left : 64;
        int fd = memory_file(size);
        char room[CMSG_SPACE(sizeof fd)] = {0}, byte = 0;
        struct iovec data = {&byte, 1};
        struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room,
                                 .msg_controllen = sizeof room};
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(head), &fd, sizeof fd);
        if (sendmsg(pair[0], &message, MSG_DONTWAIT) < 0)
            fail("sendmsg");
        close(fd);
        left -= size;
    }
}

static void file_in(const char *directory) {
    char path[256];
    snprintf(path, sizeof path, "%s/flood", directory);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    for (unsigned long i = 0; i < megabytes; i++)
        if (write(fd, filler, MB) != (ssize_t)MB)
            fail("write");
}

static void in_tmp(void) { file_in("/tmp"); }
static void in_dev_shm(void) { file_in("/dev/shm"); }

static void segments(unsigned long count, unsigned long size) {
    for (unsigned long i = 0; i < count; i++) {
        int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
        char *at = id < 0 ? (char *)-1 : shmat(id, NULL, 0);
        if (at == (char *)-1)
            fail("shmget");
        memset(at, 'x', size);
        shmdt(at);
    }
}

static void one_segment(void) { segments(1, megabytes * MB); }
static void many_segments(void) {
    segments(400, 4096);
    segments(megabytes, MB);
}

static void messages(void) {
    struct {
        long type;
        char text[8000];
    } message = {.type = 1};
    unsigned long left = megabytes * MB;
    while (left > sizeof message) {
        int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
        if (queue < 0)
            fail("msgget");
        while (left > sizeof message &&
               msgsnd(queue, &message, sizeof message.text, IPC_NOWAIT) == 0)
            left -= sizeof message;
    }
}

static void semaphores(void) {
    enum { PER_SET = 16000, BYTES_EACH = 64 };
    for (unsigned long taken = 0; taken < megabytes * MB; taken += PER_SET * BYTES_EACH)
        if (semget(IPC_PRIVATE, PER_SET, IPC_CREAT | 0600) < 0)
            fail("semget");
}

static void many_processes(void) {
    enum { EACH = 10 };
    int ready[2];
    if (pipe(ready) < 0)
        fail("pipe");
    unsigned long count = megabytes / EACH;
    for (unsigned long i = 0; i < count; i++) {
        pid_t child = fork();
        if (child < 0)
            fail("fork");
        if (child == 0) {
            touch(EACH, MAP_PRIVATE | MAP_ANONYMOUS);
            if (write(ready[1], "x", 1) != 1)
                _exit(1);
            sleep(CHILD_S);
            _exit(0);
        }
    }
    char byte;
    for (unsigned long i = 0; i < count; i++)
        if (read(ready[0], &byte, 1) != 1)
            fail("read");
}

/* Each child writes to what it shared with its parent. */
static void copied_on_write(void) {
    enum { CHILDREN = 8 };
    unsigned long each = megabytes / CHILDREN;
    char *at = mmap(NULL, each * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int ready[2];
    if (at == MAP_FAILED || pipe(ready) < 0)
        fail("mmap");
    memset(at, 'x', each * MB);
    for (int i = 0; i < CHILDREN - 1; i++) {
        pid_t child = fork();
        if (child < 0)
            fail("fork");
        if (child == 0) {
            memset(at, 'y', each * MB);
            if (write(ready[1], "x", 1) != 1)
                _exit(1);
            sleep(CHILD_S);
            _exit(0);
        }
    }
    char byte;
    for (int i = 0; i < CHILDREN - 1; i++)
        if (read(ready[0], &byte, 1) != 1)
            fail("read");
}

static unsigned long fill(int fd) {
    unsigned long filled = 0;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    for (size_t size = 65536; size > 0; size /= 2)
        for (ssize_t n; (n = write(fd, filler, size)) > 0;)
            filled += (unsigned long)n;
    return filled;
}

/* Buffers belong to no process. Forks, for a process may open only so many descriptors. */
static void buffers(int (*open_pair)(int ends[2])) {
    enum { PER_PROCESS = 400 };
    unsigned long left = megabytes * MB;
    for (int processes = 0; left > 0 && processes < 60; processes++) {
        for (int i = 0; left > 0 && i < PER_PROCESS; i++) {
            int ends[2];
            if (open_pair(ends) < 0)
                break;
            unsigned long got = fill(ends[1]);
            left = got < left ? left - got : 0;
        }
        pid_t child = left ? fork() : 0;
        if (child < 0)
            fail("fork");
        if (child > 0) {
            int status;
            waitpid(child, &status, 0);
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 3);
        }
        if (left)
            for (int fd = 3; fd < 1024; fd++)
                close(fd); /* the parent keeps what it opened */
    }
    if (left)
        fail("buffers");
}

static int open_pipe(int ends[2]) {
    if (pipe(ends) < 0)
        return -1;
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    return 0;
}

static int open_unix(int ends[2]) {
    int size = 1 << 20;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return -1;
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    return 0;
}

static int open_tcp(int ends[2]) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&at, length) < 0 ||
        listen(listener, 1) < 0 || getsockname(listener, (struct sockaddr *)&at, &length) < 0)
        return -1;
    ends[1] = socket(AF_INET, SOCK_STREAM, 0);
    if (ends[1] < 0 || connect(ends[1], (struct sockaddr *)&at, length) < 0)
        return -1;
    ends[0] = accept(listener, NULL, NULL);
    close(listener);
    return ends[0] < 0 ? -1 : 0;
}

static void pipes(void) { buffers(open_pipe); }
static void unix_sockets(void) { buffers(open_unix); }
static void tcp_sockets(void) { buffers(open_tcp); }

/* The shared zero page is free, the table that leads to it is not: 4 kB for each 2 MB read. */
static void page_tables(void) {
    unsigned long tables = megabytes * MB / 4096;
    volatile char sum = 0;
    enum { AT_ONCE = 4096 };
    for (unsigned long i = 0; i < tables; i += AT_ONCE) {
        size_t size = AT_ONCE * 2 * MB;
        const char *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                              -1, 0);
        if (at == MAP_FAILED)
            fail("mmap");
        madvise((void *)(unsigned long)at, size, MADV_NOHUGEPAGE);
        for (size_t offset = 0; offset < size; offset += 2 * MB)
            sum += at[offset];
    }
}

/* Half in one kind of shared memory, half in another: each half is below the limit. */
static void two_kinds(void) {
    touch(megabytes / 2, MAP_SHARED | MAP_ANONYMOUS);
    memory_file(megabytes / 2);
}

static const struct {
    const char *name;
    void (*take)(void);
} kinds[] = {
    {"private", private_pages}, {"shared", shared_pages},       {"memfd", unmapped_file},
    {"thread-memfd", table_of_a_thread}, {"leaderless", leaderless}, {"in-flight", in_flight},
    {"tmp", in_tmp},            {"dev-shm", in_dev_shm},        {"segment", one_segment},
    {"segments", many_segments}, {"messages", messages},        {"semaphores", semaphores},
    {"processes", many_processes}, {"copies", copied_on_write}, {"pipes", pipes},
    {"unix", unix_sockets},     {"tcp", tcp_sockets},           {"page-tables", page_tables},
    {"two-kinds", two_kinds},
};

int main(int argc, char **argv) {
    megabytes = argc >= 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (argc == 4)
        hold_s = strtod(argv[3], NULL);
    memset(filler, 'x', sizeof filler);
    for (size_t i = 0; argc >= 3 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0) {
            kinds[i].take();
            hold();
        }
    fputs("usage: memory KIND MEGABYTES [HOLD_S]\n", stderr);
    return 2;
}
