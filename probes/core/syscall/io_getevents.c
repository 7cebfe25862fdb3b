/* io_getevents: finished work, waited for, some of it, up to a time. */
#define CAPABILITY "syscall_io_getevents"
#include "_runner_c.h"

#include <linux/aio_abi.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct io_event event[8];
static char bytes[16];
static aio_context_t context;

static void make(void) {
    works(syscall(SYS_io_setup, 8, &context), "io_setup");
}

/* A file of some bytes that has no name. */
static int file(void) {
    int fd = (int)works(memfd_create("aio", 0), "memfd_create");
    works(write(fd, "glass house", 11), "write");
    return fd;
}

/* Have some bytes read, one by one. */
static void work(int count) {
    int fd = file();
    make();
    for (int i = 0; i < count; i++) {
        struct iocb one = {.aio_lio_opcode = IOCB_CMD_PREAD, .aio_fildes = (unsigned)fd,
                           .aio_buf = (unsigned long)bytes + (unsigned long)i, .aio_nbytes = 1,
                           .aio_offset = i, .aio_data = (unsigned long)i + 1};
        struct iocb *list[1] = {&one};
        want(works(syscall(SYS_io_submit, context, 1, list), "io_submit") == 1, "not one");
    }
}

static long get(long least, long most, struct timespec *time) {
    return syscall(SYS_io_getevents, context, least, most, event, time);
}

CHECK(gives_what_is_finished) {
    unsigned seen = 0;
    work(3);
    want(works(get(3, 8, NULL), "io_getevents") == 3, "not three");
    for (int i = 0; i < 3; i++)
        seen |= event[i].res == 1 ? 1u << event[i].data : 0;
    want(seen == 14, "other events");
}

CHECK(gives_no_more_than_asked_for) {
    work(3);
    want(works(get(1, 2, NULL), "io_getevents") <= 2, "more than two");
}

CHECK(gives_each_event_once) {
    struct timespec none = {0, 0};
    work(2);
    want(works(get(2, 8, NULL), "io_getevents") == 2, "not two");
    want(get(0, 8, &none) == 0, "again");
}

CHECK(gives_0_when_the_time_is_up) {
    struct timespec before, after, soon = {0, 20000000};
    make();
    clock_gettime(CLOCK_MONOTONIC, &before);
    want(works(get(1, 8, &soon), "io_getevents") == 0, "not 0");
    clock_gettime(CLOCK_MONOTONIC, &after);
    long ns = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    want(ns >= 20000000, "after %ld of 20000000 ns", ns);
}

CHECK(refuses_counts_that_are_none) {
    make();
    refuses(get(2, 1, NULL), EINVAL, "at least 2, at most 1");
    refuses(get(-1, 1, NULL), EINVAL, "at least -1");
}

CHECK(refuses_what_is_no_queue) {
    refuses(get(0, 1, NULL), EINVAL, "queue 0");
}

CHECK(refuses_a_bad_address) {
    struct timespec late = {3, 0};
    work(1);
    refuses(syscall(SYS_io_getevents, context, 1, 1, (void *)8, &late), EFAULT, "events at 8");
}

CHECKS
