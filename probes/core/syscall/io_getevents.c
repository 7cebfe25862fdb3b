/* io_getevents: asynchronous reads and writes that have ended. */
#define CAPABILITY "syscall_io_getevents"
#include "_runner_c.h"

#include <linux/aio_abi.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static aio_context_t queue;
static struct timespec now, limit = {.tv_sec = 3};

CHECK(tells_what_ended) {
    struct iocb one = {.aio_data = 42,
                       .aio_lio_opcode = IOCB_CMD_PWRITE,
                       .aio_fildes = (uint32_t)file_with("file", ""),
                       .aio_buf = (uintptr_t) "glass",
                       .aio_nbytes = 5};
    struct iocb *list = &one;
    struct io_event events[2];
    works(syscall(SYS_io_setup, 8, &queue), "io_setup");
    works(syscall(SYS_io_submit, queue, 1, &list), "io_submit");
    want(works(syscall(SYS_io_getevents, queue, 1, 2, events, &limit), "io_getevents") == 1,
         "not one event");
    want(events[0].data == 42 && events[0].res == 5, "another event");
    want(syscall(SYS_io_getevents, queue, 0, 2, events, &now) == 0, "it is told twice");
}

CHECK(gives_0_when_its_time_is_over) {
    struct io_event event;
    struct timespec soon = {.tv_nsec = 1000000};
    works(syscall(SYS_io_setup, 8, &queue), "io_setup");
    want(syscall(SYS_io_getevents, queue, 1, 1, &event, &soon) == 0, "something ended");
}

CHECK(refuses_to_wait_for_more_than_it_may_tell) {
    struct io_event event;
    works(syscall(SYS_io_setup, 8, &queue), "io_setup");
    refuses(syscall(SYS_io_getevents, queue, 2, 1, &event, &now), EINVAL, "io_getevents");
}

CHECK(refuses_what_is_no_queue) {
    struct io_event event;
    refuses(syscall(SYS_io_getevents, 0, 0, 1, &event, &now), EINVAL, "io_getevents of 0");
}

CHECKS
