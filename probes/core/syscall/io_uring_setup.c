/* io_uring_setup: a ring for requests that no filter sees. */
#define CAPABILITY "syscall_io_uring_setup"
#include "_runner_c.h"

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(makes_a_ring) {
    struct io_uring_params facts = {0};
    int ring = (int)works(syscall(SYS_io_uring_setup, 4, &facts), "io_uring_setup");
    want(facts.sq_entries == 4 && facts.cq_entries >= 4, "of another size");
    want(mmap(NULL, 4096, PROT_READ, MAP_SHARED, ring, IORING_OFF_SQ_RING) != MAP_FAILED,
         "it can't be mapped");
}

CHECK(refuses_a_ring_of_nothing) {
    struct io_uring_params facts = {0};
    refuses(syscall(SYS_io_uring_setup, 0, &facts), EINVAL, "io_uring_setup of 0");
}

CHECK(refuses_unknown_flags) {
    struct io_uring_params facts = {.flags = 1U << 31};
    refuses(syscall(SYS_io_uring_setup, 4, &facts), EINVAL, "io_uring_setup with 1 << 31");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_io_uring_setup, 4, (void *)8), EFAULT, "io_uring_setup by 8");
}

CHECKS
