/* Files and sockets can be worked on through io_uring, which no syscall filter sees. */
#define CAPABILITY "kernel_io_uring"
#include "_runner_c.h"

#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    struct io_uring_params parameters = {0};
    if (syscall(SYS_io_uring_setup, 1, &parameters) < 0)
        blocked("io_uring_setup");
    allowed("made a ring of one entry");
}

PROBE(exercise)
