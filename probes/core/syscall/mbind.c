/* mbind: the NUMA nodes that memory is to come from. */
#define CAPABILITY "syscall_mbind"
#include "_runner_c.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static char *page(void) {
    char *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        blocked("mmap");
    return at;
}

static unsigned long first = 1, none = 0;

CHECK(binds_memory_to_a_node) {
    unsigned long nodes[16] = {0};
    int mode = -1;
    char *at = page();
    works(syscall(SYS_mbind, at, PAGE, MPOL_BIND, &first, 64, 0), "mbind");
    *at = 7;
    works(syscall(SYS_get_mempolicy, &mode, nodes, 1024, at, MPOL_F_ADDR), "get_mempolicy");
    want(mode == MPOL_BIND && nodes[0] == 1, "mode %d, nodes %#lx", mode, nodes[0]);
}

CHECK(goes_back_to_the_default) {
    int mode = -1;
    char *at = page();
    works(syscall(SYS_mbind, at, PAGE, MPOL_BIND, &first, 64, 0), "mbind");
    works(syscall(SYS_mbind, at, PAGE, MPOL_DEFAULT, NULL, 0, 0), "mbind");
    works(syscall(SYS_get_mempolicy, &mode, NULL, 0, at, MPOL_F_ADDR), "get_mempolicy");
    want(mode == MPOL_DEFAULT, "mode %d", mode);
}

CHECK(refuses_no_nodes_to_bind_to) {
    refuses(syscall(SYS_mbind, page(), PAGE, MPOL_BIND, &none, 64, 0), EINVAL, "to no node");
}

CHECK(refuses_unknown_modes_and_flags) {
    refuses(syscall(SYS_mbind, page(), PAGE, 99, &first, 64, 0), EINVAL, "mode 99");
    refuses(syscall(SYS_mbind, page(), PAGE, MPOL_BIND, &first, 64, 64), EINVAL, "flag 64");
}

CHECK(refuses_memory_that_is_not_there) {
    char *at = page();
    works(munmap(at, PAGE), "munmap");
    refuses(syscall(SYS_mbind, at, PAGE, MPOL_BIND, &first, 64, 0), EFAULT, "of nothing");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_mbind, page(), PAGE, MPOL_BIND, (void *)8, 64, 0), EFAULT, "nodes at 8");
}

CHECKS
