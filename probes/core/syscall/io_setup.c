/* io_setup: a queue for asynchronous reads and writes. */
#define CAPABILITY "syscall_io_setup"
#include "_runner_c.h"

#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(makes_a_queue) {
    aio_context_t queue = 0;
    struct timespec {
        long s, ns;
    } now = {0, 0};
    works(syscall(SYS_io_setup, 8, &queue), "io_setup");
    want(queue != 0, "it has no name");
    want(works(syscall(SYS_io_getevents, queue, 0, 1, NULL, &now), "io_getevents") == 0, "busy");
    works(syscall(SYS_io_destroy, queue), "io_destroy");
}

CHECK(makes_several_queues) {
    aio_context_t one = 0, other = 0;
    works(syscall(SYS_io_setup, 1, &one), "io_setup");
    works(syscall(SYS_io_setup, 1, &other), "io_setup");
    want(one != other, "they are one");
}

CHECK(refuses_a_name_that_is_not_0) {
    aio_context_t queue = 1;
    refuses(syscall(SYS_io_setup, 1, &queue), EINVAL, "io_setup over 1");
}

CHECK(refuses_room_for_nothing) {
    aio_context_t queue = 0;
    refuses(syscall(SYS_io_setup, 0, &queue), EINVAL, "io_setup for 0");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_io_setup, 1, (void *)8), EFAULT, "io_setup to 8");
}

CHECKS
