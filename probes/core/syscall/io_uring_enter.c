/* io_uring_enter: requests of a ring, handed in and waited for. */
#define CAPABILITY "syscall_io_uring_enter"
#include "_runner_c.h"

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *map(int ring, size_t size, long what) {
    void *place = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, what);
    want(place != MAP_FAILED, "mmap of the ring");
    return place;
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_io_uring_enter, -1, 0, 0, 0, NULL, 0), EBADF, "io_uring_enter of -1");
}

CHECK(refuses_what_is_no_ring) {
    refuses(syscall(SYS_io_uring_enter, 0, 0, 0, 0, NULL, 0), EOPNOTSUPP, "io_uring_enter of 0");
}

CHECK(does_what_the_ring_asks_for) {
    struct io_uring_params facts = {0};
    int ring = (int)works(syscall(SYS_io_uring_setup, 1, &facts), "io_uring_setup");
    char *asked = map(ring, 4096, IORING_OFF_SQ_RING), *done = map(ring, 4096, IORING_OFF_CQ_RING);
    struct io_uring_sqe *request = (void *)map(ring, sizeof *request, (long)IORING_OFF_SQES);
    *request = (struct io_uring_sqe){.opcode = IORING_OP_NOP, .user_data = 42};
    *(unsigned *)(asked + facts.sq_off.array) = 0;
    __atomic_store_n((unsigned *)(asked + facts.sq_off.tail), 1, __ATOMIC_RELEASE);
    want(works(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0),
               "io_uring_enter") == 1,
         "it was not taken");
    struct io_uring_cqe *answer = (void *)(done + facts.cq_off.cqes);
    want(answer->user_data == 42 && answer->res == 0, "another answer");
}

CHECKS
