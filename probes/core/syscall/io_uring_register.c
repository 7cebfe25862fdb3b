/* io_uring_register: buffers and files of a ring, made known. */
#define CAPABILITY "syscall_io_uring_register"
#include "_runner_c.h"

#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int make_ring(void) {
    struct io_uring_params facts = {0};
    return (int)works(syscall(SYS_io_uring_setup, 1, &facts), "io_uring_setup");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_io_uring_register, 999, IORING_REGISTER_FILES, NULL, 0), EBADF, "of 999");
}

CHECK(knows_files_until_asked_otherwise) {
    int ring = make_ring(), fds[] = {0};
    works(syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, fds, 1), "files");
    refuses(syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, fds, 1), EBUSY, "again");
    works(syscall(SYS_io_uring_register, ring, IORING_UNREGISTER_FILES, NULL, 0), "no files");
    refuses(syscall(SYS_io_uring_register, ring, IORING_UNREGISTER_FILES, NULL, 0), ENXIO, "none");
}

CHECK(refuses_an_unknown_request) {
    refuses(syscall(SYS_io_uring_register, make_ring(), 9999, NULL, 0), EINVAL, "request 9999");
}

CHECKS
