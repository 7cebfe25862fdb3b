/* set_mempolicy_home_node: the preferred NUMA node of memory that has a policy. */
#define CAPABILITY "syscall_set_mempolicy_home_node"
#include "_runner_c.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_set_mempolicy_home_node
#define SYS_set_mempolicy_home_node 450
#endif
#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static char *page(int mode) {
    unsigned long first = 1;
    char *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        blocked("mmap");
    if (mode != MPOL_DEFAULT)
        works(syscall(SYS_mbind, at, PAGE, mode, &first, 64, 0), "mbind");
    return at;
}

static long prefer(char *at, unsigned long node, unsigned long flags) {
    return syscall(SYS_set_mempolicy_home_node, at, PAGE, node, flags);
}

CHECK(prefers_a_node_and_keeps_the_policy) {
    int mode = -1;
    char *at = page(MPOL_BIND);
    works(prefer(at, 0, 0), "set_mempolicy_home_node");
    *at = 7;
    works(syscall(SYS_get_mempolicy, &mode, NULL, 0, at, MPOL_F_ADDR), "get_mempolicy");
    want(mode == MPOL_BIND, "mode %d", mode);
}

CHECK(refuses_unknown_flags) {
    refuses(prefer(page(MPOL_BIND), 0, 1), EINVAL, "flag 1");
}

CHECK(refuses_a_node_that_is_not_there) {
    refuses(prefer(page(MPOL_BIND), 100000, 0), EINVAL, "node 100000");
}

CHECK(refuses_a_policy_that_prefers_none) {
    refuses(prefer(page(MPOL_INTERLEAVE), 0, 0), EOPNOTSUPP, "with MPOL_INTERLEAVE");
}

CHECK(refuses_memory_without_a_policy) {
    refuses(prefer(page(MPOL_DEFAULT), 0, 0), ENOENT, "without one");
}

CHECKS
