/* io_cancel: work that is broken off, and work that can't be. */
#define CAPABILITY "syscall_io_cancel"
#include "_runner_c.h"

#include <linux/aio_abi.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static aio_context_t context;
static struct iocb waiting;
static struct io_event event;

/* Wait for a descriptor that is never ready. */
static void start(void) {
    struct iocb *list[1] = {&waiting};
    waiting.aio_lio_opcode = IOCB_CMD_POLL;
    waiting.aio_fildes = (unsigned)works(eventfd(0, 0), "eventfd");
    waiting.aio_buf = POLLIN;
    waiting.aio_data = 42;
    works(syscall(SYS_io_setup, 8, &context), "io_setup");
    want(works(syscall(SYS_io_submit, context, 1, list), "io_submit") == 1, "not one");
}

CHECK(breaks_off_what_waits) {
    struct timespec late = {3, 0};
    start();
    long result = syscall(SYS_io_cancel, context, &waiting, &event);
    want(result == 0 || (result == -1 && errno == EINPROGRESS), "it was not broken off");
    want(syscall(SYS_io_getevents, context, 1, 1, &event, &late) == 1, "no event of its end");
    want(event.data == 42, "another event");
}

CHECK(refuses_what_is_not_under_way) {
    static struct iocb other;
    start();
    refuses(syscall(SYS_io_cancel, context, &other, &event), EINVAL, "another request");
}

CHECK(refuses_what_is_no_queue) {
    refuses(syscall(SYS_io_cancel, 0, &waiting, &event), EINVAL, "queue 0");
}

CHECK(refuses_a_bad_address) {
    start();
    refuses(syscall(SYS_io_cancel, context, (void *)8, &event), EFAULT, "a request at 8");
}

CHECKS
