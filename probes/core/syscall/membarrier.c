/* membarrier: memory accesses put in order across threads. */
#define CAPABILITY "syscall_membarrier"
#include "_runner_c.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static long barrier(int command, unsigned flags) {
    return syscall(SYS_membarrier, command, flags, 0);
}

CHECK(reports_what_there_is) {
    long known = works(barrier(MEMBARRIER_CMD_QUERY, 0), "the query");
    want(known & MEMBARRIER_CMD_GLOBAL, "no barrier for all");
    want(known & MEMBARRIER_CMD_PRIVATE_EXPEDITED, "no barrier for one process");
}

CHECK(orders_all_threads_of_the_system) {
    want(works(barrier(MEMBARRIER_CMD_GLOBAL, 0), "the barrier for all") == 0, "not 0");
}

CHECK(orders_the_processs_threads_once_registered) {
    works(barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0), "registering");
    want(works(barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0), "the barrier") == 0, "not 0");
}

CHECK(refuses_who_is_not_registered) {
    works(barrier(MEMBARRIER_CMD_QUERY, 0), "the query");
    refuses(barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0), EPERM, "the barrier");
}

CHECK(refuses_an_unknown_command) {
    refuses(barrier(1 << 30, 0), EINVAL, "command 1 << 30");
}

CHECK(refuses_unknown_flags) {
    refuses(barrier(MEMBARRIER_CMD_QUERY, 0x100), EINVAL, "flag 0x100");
}

CHECKS
