/* lsm_set_self_attr: another label from a security module. */
#define CAPABILITY "syscall_lsm_set_self_attr"
#include "_runner_c.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_lsm_set_self_attr
#define SYS_lsm_set_self_attr 460
#endif
#define CURRENT 100 /* LSM_ATTR_CURRENT */

static struct {
    uint64_t id, flags, length, context_length;
} label = {.id = 9999, .length = sizeof label}; /* of a module that there is not */

static long set(void *what, uint32_t size, uint32_t flags) {
    return syscall(SYS_lsm_set_self_attr, CURRENT, what, size, flags);
}

CHECK(refuses_a_module_that_is_not_there) {
    refuses(set(&label, sizeof label, 0), EOPNOTSUPP, "a label of module 9999");
}

CHECK(refuses_a_short_label) {
    refuses(set(&label, 8, 0), EINVAL, "8 bytes");
}

CHECK(refuses_a_length_beyond_the_size) {
    label.length = 4096;
    refuses(set(&label, sizeof label, 0), EINVAL, "a length of 4096");
}

CHECK(refuses_unknown_flags) {
    refuses(set(&label, sizeof label, 0x80), EINVAL, "flag 0x80");
}

CHECK(refuses_a_bad_address) {
    refuses(set((void *)8, sizeof label, 0), EFAULT, "a label at address 8");
}

CHECKS
