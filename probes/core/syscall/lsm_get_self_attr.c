/* lsm_get_self_attr: the labels that security modules gave the caller. */
#define CAPABILITY "syscall_lsm_get_self_attr"
#include "_runner_c.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_lsm_get_self_attr
#define SYS_lsm_get_self_attr 459
#endif
#define CURRENT 100 /* LSM_ATTR_CURRENT */

static struct {
    uint64_t id, flags, length, context_length;
    char context[4064];
} label;
static uint32_t size = sizeof label;

CHECK(reports_a_label) {
    long count = syscall(SYS_lsm_get_self_attr, CURRENT, &label, &size, 0);
    if (count == -1 && errno == EOPNOTSUPP)
        unavailable("no security module of this kernel gives labels");
    want(works(count, "the current label") > 0, "no label");
    want(label.length >= 32 && label.context_length > 0, "an empty label");
}

CHECK(refuses_what_is_no_attribute) {
    refuses(syscall(SYS_lsm_get_self_attr, 0, &label, &size, 0), EINVAL, "attribute 0");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_lsm_get_self_attr, CURRENT, &label, &size, 0x80), EINVAL, "flag 0x80");
}

CHECK(refuses_no_size) {
    refuses(syscall(SYS_lsm_get_self_attr, CURRENT, &label, NULL, 0), EINVAL, "no size");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_lsm_get_self_attr, CURRENT, &label, 8, 0), EFAULT, "a size at address 8");
}

CHECKS
