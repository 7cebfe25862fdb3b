/* io_cancel: an asynchronous request, called back. */
#define CAPABILITY "syscall_io_cancel"
#include "_runner_c.h"

#include <linux/aio_abi.h>
#include <poll.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static aio_context_t queue;

CHECK(ends_a_request_that_waits) {
    int ends[2];
    works(pipe(ends), "pipe");
    struct iocb one = {.aio_data = 42,
                       .aio_lio_opcode = IOCB_CMD_POLL,
                       .aio_fildes = (uint32_t)ends[0],
                       .aio_buf = POLLIN};
    struct iocb *list = &one;
    struct io_event event = {0};
    struct timespec limit = {.tv_sec = 3};
    works(syscall(SYS_io_setup, 8, &queue), "io_setup");
    works(syscall(SYS_io_submit, queue, 1, &list), "io_submit");
    refuses(syscall(SYS_io_cancel, queue, &one, &event), EINPROGRESS, "io_cancel");
    want(syscall(SYS_io_getevents, queue, 1, 1, &event, &limit) == 1, "it did not end");
    want(event.data == 42 && event.res == 0, "it was ready");
}

CHECK(refuses_a_request_that_was_never_made) {
    struct iocb one = {0};
    struct io_event event;
    works(syscall(SYS_io_setup, 8, &queue), "io_setup");
    refuses(syscall(SYS_io_cancel, queue, &one, &event), EINVAL, "io_cancel of nothing");
}

CHECK(refuses_what_is_no_queue) {
    struct iocb one = {0};
    struct io_event event;
    refuses(syscall(SYS_io_cancel, 0, &one, &event), EINVAL, "io_cancel in 0");
}

CHECK(refuses_a_bad_address) {
    struct io_event event;
    works(syscall(SYS_io_setup, 8, &queue), "io_setup");
    refuses(syscall(SYS_io_cancel, queue, (void *)8, &event), EFAULT, "io_cancel of 8");
}

CHECKS
