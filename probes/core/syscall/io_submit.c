/* io_submit: asynchronous reads and writes, handed in. */
#define CAPABILITY "syscall_io_submit"
#include "_runner_c.h"

#include <linux/aio_abi.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static aio_context_t queue;

/* Hand one in and wait for its end. */
static long result_of(struct iocb *one) {
    struct io_event event = {0};
    struct timespec limit = {.tv_sec = 3};
    if (!queue)
        works(syscall(SYS_io_setup, 8, &queue), "io_setup");
    want(works(syscall(SYS_io_submit, queue, 1, &one), "io_submit") == 1, "it was not taken");
    want(syscall(SYS_io_getevents, queue, 1, 1, &event, &limit) == 1, "it did not end");
    want(event.data == one->aio_data && event.obj == (uintptr_t)one, "another ended");
    return (long)event.res;
}

static struct iocb request(int fd, int what, void *bytes, size_t size, long offset) {
    return (struct iocb){.aio_data = 42,
                         .aio_lio_opcode = (uint16_t)what,
                         .aio_fildes = (uint32_t)fd,
                         .aio_buf = (uintptr_t)bytes,
                         .aio_nbytes = size,
                         .aio_offset = offset};
}

CHECK(writes_to_a_file) {
    char bytes[8];
    int fd = file_with("file", "");
    struct iocb one = request(fd, IOCB_CMD_PWRITE, "glass", 5, 0);
    want(result_of(&one) == 5, "not five bytes");
    want(pread(fd, bytes, 8, 0) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(reads_from_a_file_at_a_place) {
    char bytes[8];
    struct iocb one = request(file_with("file", "glass"), IOCB_CMD_PREAD, bytes, 8, 2);
    want(result_of(&one) == 3 && memcmp(bytes, "ass", 3) == 0, "other bytes");
}

CHECK(tells_of_an_error_at_the_end) {
    struct iocb one = request(file_with("file", "glass"), IOCB_CMD_PREAD, (void *)8, 8, 0);
    want(result_of(&one) == -EFAULT, "no EFAULT");
}

CHECK(takes_several) {
    int fd = file_with("file", "");
    struct iocb one = request(fd, IOCB_CMD_PWRITE, "gl", 2, 0);
    struct iocb two = request(fd, IOCB_CMD_PWRITE, "ass", 3, 2);
    struct iocb *both[] = {&one, &two};
    struct io_event events[2];
    struct timespec limit = {.tv_sec = 3};
    char bytes[8];
    works(syscall(SYS_io_setup, 8, &queue), "io_setup");
    want(works(syscall(SYS_io_submit, queue, 2, both), "io_submit") == 2, "not both");
    want(syscall(SYS_io_getevents, queue, 2, 2, events, &limit) == 2, "they did not end");
    want(pread(fd, bytes, 8, 0) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(of_none_gives_0) {
    works(syscall(SYS_io_setup, 8, &queue), "io_setup");
    want(works(syscall(SYS_io_submit, queue, 0, NULL), "io_submit") == 0, "something was taken");
}

CHECK(refuses_an_unknown_request) {
    struct iocb one = request(file_with("file", ""), 99, NULL, 0, 0), *list = &one;
    works(syscall(SYS_io_setup, 8, &queue), "io_setup");
    refuses(syscall(SYS_io_submit, queue, 1, &list), EINVAL, "io_submit of request 99");
}

CHECK(refuses_a_closed_descriptor) {
    char byte;
    struct iocb one = request(-1, IOCB_CMD_PREAD, &byte, 1, 0), *list = &one;
    works(syscall(SYS_io_setup, 8, &queue), "io_setup");
    refuses(syscall(SYS_io_submit, queue, 1, &list), EBADF, "io_submit for -1");
}

CHECK(refuses_what_is_no_queue) {
    struct iocb *list = NULL;
    refuses(syscall(SYS_io_submit, 0, 1, &list), EINVAL, "io_submit to 0");
}

CHECK(refuses_a_bad_list) {
    works(syscall(SYS_io_setup, 8, &queue), "io_setup");
    refuses(syscall(SYS_io_submit, queue, 1, (void *)8), EFAULT, "io_submit of the list at 8");
}

CHECKS
