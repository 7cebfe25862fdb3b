/* lsm_list_modules: the kernel's security modules. */
#define CAPABILITY "syscall_lsm_list_modules"
#include "_runner_c.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_lsm_list_modules
#define SYS_lsm_list_modules 461
#endif
#define CAPABILITIES 100 /* LSM_ID_CAPABILITY, which is always there */

static uint64_t ids[64];
static uint32_t size = sizeof ids;

CHECK(names_the_module_of_capabilities) {
    long count = works(syscall(SYS_lsm_list_modules, ids, &size, 0), "lsm_list_modules");
    int found = 0;
    for (long i = 0; i < count && i < 64; i++)
        found |= ids[i] == CAPABILITIES;
    want(found, "%ld modules, and not this one", count);
    want(size == (uint32_t)count * sizeof *ids, "the size is %u", size);
}

CHECK(reports_the_size_where_there_is_no_room) {
    size = 1;
    refuses(syscall(SYS_lsm_list_modules, ids, &size, 0), E2BIG, "room for nothing");
    want(size >= sizeof *ids, "the size is %u", size);
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_lsm_list_modules, ids, &size, 1), EINVAL, "flag 1");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_lsm_list_modules, ids, 8, 0), EFAULT, "a size at address 8");
    refuses(syscall(SYS_lsm_list_modules, 8, &size, 0), EFAULT, "modules to address 8");
}

CHECKS
