/* io_destroy: queues of asynchronous work that end. */
#define CAPABILITY "syscall_io_destroy"
#include "_runner_c.h"

#include <linux/aio_abi.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

static aio_context_t context;

static void make(void) {
    works(syscall(SYS_io_setup, 8, &context), "io_setup");
}

CHECK(ends_a_queue) {
    struct io_event event;
    make();
    works(syscall(SYS_io_destroy, context), "io_destroy");
    refuses(syscall(SYS_io_getevents, context, 0, 1, &event, NULL), EINVAL, "io_getevents");
}

CHECK(breaks_off_what_is_under_way) {
    int fd = (int)works(eventfd(0, 0), "eventfd");
    struct iocb wait = {
        .aio_lio_opcode = IOCB_CMD_POLL, .aio_fildes = (unsigned)fd, .aio_buf = 1 /* POLLIN */};
    struct iocb *list[1] = {&wait};
    make();
    works(syscall(SYS_io_submit, context, 1, list), "io_submit of a wait");
    works(syscall(SYS_io_destroy, context), "io_destroy");
}

CHECK(refuses_a_queue_twice) {
    make();
    works(syscall(SYS_io_destroy, context), "io_destroy");
    refuses(syscall(SYS_io_destroy, context), EINVAL, "again");
}

CHECK(refuses_what_is_no_queue) {
    refuses(syscall(SYS_io_destroy, 0), EINVAL, "0");
    refuses(syscall(SYS_io_destroy, 4096), EINVAL, "4096");
}

CHECKS
