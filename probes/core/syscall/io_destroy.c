/* io_destroy: the end of a queue. */
#define CAPABILITY "syscall_io_destroy"
#include "_runner_c.h"

#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(ends_a_queue) {
    aio_context_t queue = 0;
    works(syscall(SYS_io_setup, 1, &queue), "io_setup");
    works(syscall(SYS_io_destroy, queue), "io_destroy");
    refuses(syscall(SYS_io_submit, queue, 0, NULL), EINVAL, "io_submit to a queue that ended");
}

CHECK(refuses_what_is_no_queue) {
    refuses(syscall(SYS_io_destroy, 0), EINVAL, "io_destroy of 0");
}

CHECK(refuses_to_end_a_queue_twice) {
    aio_context_t queue = 0;
    works(syscall(SYS_io_setup, 1, &queue), "io_setup");
    works(syscall(SYS_io_destroy, queue), "io_destroy");
    refuses(syscall(SYS_io_destroy, queue), EINVAL, "io_destroy again");
}

CHECKS
