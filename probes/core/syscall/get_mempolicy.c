/* get_mempolicy: the NUMA nodes that memory comes from. */
#define CAPABILITY "syscall_get_mempolicy"
#include "_runner_c.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned long nodes[16];
static int mode = -1;

CHECK(reports_the_default) {
    works(syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0), "get_mempolicy");
    want(mode == MPOL_DEFAULT, "mode %d", mode);
}

CHECK(reports_the_nodes_allowed) {
    works(syscall(SYS_get_mempolicy, NULL, nodes, 1024, NULL, MPOL_F_MEMS_ALLOWED), "it");
    want(nodes[0] & 1, "not the first node: %#lx", nodes[0]);
}

CHECK(reports_the_node_of_an_address) {
    unsigned flags = MPOL_F_NODE | MPOL_F_ADDR;
    works(syscall(SYS_get_mempolicy, &mode, NULL, 0, &mode, flags), "get_mempolicy");
    want(mode >= 0 && mode < 1024, "node %d", mode);
}

CHECK(reports_what_was_set) {
    unsigned long first = 1;
    works(syscall(SYS_set_mempolicy, MPOL_PREFERRED, &first, 64), "set_mempolicy");
    works(syscall(SYS_get_mempolicy, &mode, nodes, 1024, NULL, 0), "get_mempolicy");
    want(mode == MPOL_PREFERRED && nodes[0] == 1, "mode %d, nodes %#lx", mode, nodes[0]);
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 64), EINVAL, "flag 64");
}

CHECK(refuses_an_address_without_its_flag) {
    refuses(syscall(SYS_get_mempolicy, &mode, NULL, 0, &mode, 0), EINVAL, "an address");
}

CHECK(refuses_memory_that_is_not_there) {
    refuses(syscall(SYS_get_mempolicy, &mode, NULL, 0, (void *)8, MPOL_F_ADDR), EFAULT, "at 8");
}

CHECKS
