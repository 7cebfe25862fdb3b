/* set_mempolicy: the NUMA nodes that new memory is to come from. */
#define CAPABILITY "syscall_set_mempolicy"
#include "_runner_c.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned long first = 1, none = 0;

static int mode(void) {
    int found = -1;
    works(syscall(SYS_get_mempolicy, &found, NULL, 0, NULL, 0), "get_mempolicy");
    return found;
}

CHECK(sets_the_policy_that_is_read_afterwards) {
    works(syscall(SYS_set_mempolicy, MPOL_BIND, &first, 64), "set_mempolicy");
    want(mode() == MPOL_BIND, "mode %d", mode());
}

CHECK(goes_back_to_the_default) {
    works(syscall(SYS_set_mempolicy, MPOL_INTERLEAVE, &first, 64), "set_mempolicy");
    works(syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0), "set_mempolicy");
    want(mode() == MPOL_DEFAULT, "mode %d", mode());
}

CHECK(refuses_unknown_modes) {
    refuses(syscall(SYS_set_mempolicy, 99, &first, 64), EINVAL, "mode 99");
}

CHECK(refuses_no_nodes_to_bind_to) {
    refuses(syscall(SYS_set_mempolicy, MPOL_BIND, &none, 64), EINVAL, "to no node");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_set_mempolicy, MPOL_BIND, (void *)8, 64), EFAULT, "nodes at 8");
}

CHECKS
