/* io_submit: reads, writes, syncs and waits that go on by themselves. */
#define CAPABILITY "syscall_io_submit"
#include "_runner_c.h"

#include <linux/aio_abi.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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

static struct iocb request(int operation, int fd, void *buffer, size_t size, long offset) {
    return (struct iocb){.aio_lio_opcode = (uint16_t)operation, .aio_fildes = (unsigned)fd,
                         .aio_buf = (unsigned long)buffer, .aio_nbytes = size,
                         .aio_offset = offset};
}

static long submit(struct iocb *one) {
    struct iocb *list[1] = {one};
    return syscall(SYS_io_submit, context, 1, list);
}

/* What one request gave. */
static long done(struct iocb *one) {
    struct timespec late = {3, 0};
    want(works(submit(one), "io_submit") == 1, "not one");
    want(syscall(SYS_io_getevents, context, 1, 1, event, &late) == 1, "no event");
    return (long)event[0].res;
}

CHECK(reads_at_an_offset) {
    struct iocb one = request(IOCB_CMD_PREAD, file(), bytes, 5, 6);
    make();
    want(done(&one) == 5 && memcmp(bytes, "house", 5) == 0, "other bytes");
}

CHECK(writes_at_an_offset) {
    int fd = file();
    struct iocb one = request(IOCB_CMD_PWRITE, fd, "mouse", 5, 6);
    make();
    want(done(&one) == 5 && pread(fd, bytes, 11, 0) == 11, "not written");
    want(memcmp(bytes, "glass mouse", 11) == 0, "other bytes");
}

CHECK(reads_into_several_places) {
    char other[4];
    struct iovec places[2] = {{bytes, 5}, {other, 4}};
    struct iocb one = request(IOCB_CMD_PREADV, file(), places, 2, 0);
    make();
    want(done(&one) == 9 && memcmp(other, " hou", 4) == 0, "other bytes");
}

CHECK(writes_from_several_places) {
    struct iovec places[2] = {{(char *)"ab", 2}, {(char *)"cd", 2}};
    int fd = file();
    struct iocb one = request(IOCB_CMD_PWRITEV, fd, places, 2, 0);
    make();
    want(done(&one) == 4 && pread(fd, bytes, 5, 0) == 5 && !memcmp(bytes, "abcds", 5), "others");
}

CHECK(reports_the_data_and_the_request) {
    struct iocb one = request(IOCB_CMD_PREAD, file(), bytes, 1, 0);
    one.aio_data = 42;
    make();
    want(done(&one) == 1 && event[0].data == 42, "other data");
    want(event[0].obj == (unsigned long)&one, "another request");
}

CHECK(takes_several_at_once) {
    int fd = file();
    struct iocb one = request(IOCB_CMD_PREAD, fd, bytes, 1, 0);
    struct iocb other = request(IOCB_CMD_PREAD, fd, bytes + 1, 1, 1);
    struct iocb *list[2] = {&one, &other};
    make();
    want(works(syscall(SYS_io_submit, context, 2, list), "io_submit") == 2, "not two");
    want(syscall(SYS_io_getevents, context, 2, 8, event, NULL) == 2, "not two events");
    want(memcmp(bytes, "gl", 2) == 0, "other bytes");
}

CHECK(reports_a_descriptor_of_the_end) {
    uint64_t count = 0;
    int bell = (int)works(eventfd(0, 0), "eventfd");
    struct iocb one = request(IOCB_CMD_PREAD, file(), bytes, 1, 0);
    one.aio_flags = IOCB_FLAG_RESFD;
    one.aio_resfd = (unsigned)bell;
    make();
    want(done(&one) == 1, "no byte");
    want(read(bell, &count, 8) == 8 && count == 1, "no event");
}

CHECK(waits_for_a_descriptor) {
    struct timespec none = {0, 0}, late = {3, 0};
    int fd = (int)works(eventfd(0, 0), "eventfd");
    struct iocb one = {
        .aio_lio_opcode = IOCB_CMD_POLL, .aio_fildes = (unsigned)fd, .aio_buf = POLLIN};
    make();
    works(submit(&one), "io_submit");
    want(syscall(SYS_io_getevents, context, 0, 1, event, &none) == 0, "ready too early");
    works(eventfd_write(fd, 1), "eventfd_write");
    want(syscall(SYS_io_getevents, context, 1, 1, event, &late) == 1, "not ready");
    want(event[0].res == POLLIN, "%lld", (long long)event[0].res);
}

CHECK(gives_the_errors_of_the_work_as_events) {
    struct iocb one = request(IOCB_CMD_PREAD, file(), (void *)8, 5, 0);
    make();
    want(done(&one) == -EFAULT, "%lld", (long long)event[0].res);
}

CHECK(does_nothing_for_nothing) {
    make();
    want(syscall(SYS_io_submit, context, 0, NULL) == 0, "not 0");
}

CHECK(refuses_a_closed_descriptor) {
    struct iocb one = request(IOCB_CMD_PREAD, -1, bytes, 1, 0);
    make();
    refuses(submit(&one), EBADF, "of -1");
}

CHECK(refuses_unknown_work) {
    struct iocb one = request(99, file(), bytes, 1, 0);
    make();
    refuses(submit(&one), EINVAL, "operation 99");
}

CHECK(refuses_what_must_be_empty) {
    struct iocb one = request(IOCB_CMD_PREAD, file(), bytes, 1, 0);
    one.aio_reserved2 = 1;
    make();
    refuses(submit(&one), EINVAL, "aio_reserved2 of 1");
}

CHECK(refuses_a_negative_count) {
    make();
    refuses(syscall(SYS_io_submit, context, -1l, NULL), EINVAL, "-1 requests");
}

CHECK(refuses_what_is_no_queue) {
    struct iocb one = request(IOCB_CMD_PREAD, file(), bytes, 1, 0);
    refuses(submit(&one), EINVAL, "queue 0");
}

CHECK(refuses_a_bad_address) {
    make();
    refuses(syscall(SYS_io_submit, context, 1, (void *)8), EFAULT, "requests at 8");
}

CHECKS
