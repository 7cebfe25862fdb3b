/* listmount: the mounts below another, by number. */
#define CAPABILITY "syscall_listmount"
#include "_runner_c.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_listmount
#define SYS_listmount 458
#endif

#define MNT_ID_UNIQUE 0x4000 /* of statx, Linux 6.8 */

static struct {
    uint32_t size, spare;
    uint64_t mount, after;
} request = {.size = 24, .mount = UINT64_MAX}; /* LSMT_ROOT */
static uint64_t found[1024];

static long list(void) {
    return works(syscall(SYS_listmount, &request, found, 1024, 0), "listmount");
}

CHECK(lists_the_mounts_below_the_root) {
    struct statx proc;
    works(statx(AT_FDCWD, "/proc", 0, MNT_ID_UNIQUE, &proc), "statx");
    for (long i = list(); i-- > 0;)
        if (found[i] == proc.stx_mnt_id)
            return;
    want(0, "/proc is not among them");
}

CHECK(goes_on_after_the_last_one) {
    own_mounts(); /* where nobody else mounts meanwhile */
    long count = list();
    request.after = found[0];
    want(list() == count - 1, "not one less");
}

CHECK(refuses_a_mount_that_is_not_there) {
    request.mount = UINT64_MAX - 7;
    refuses(syscall(SYS_listmount, &request, found, 1024, 0), ENOENT, "listmount of nothing");
}

CHECK(refuses_a_size_that_is_too_small) {
    request.size = 8;
    refuses(syscall(SYS_listmount, &request, found, 1024, 0), EINVAL, "listmount by 8 bytes");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_listmount, &request, found, 1024, 1 << 20), EINVAL, "with 1 << 20");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_listmount, (void *)8, found, 1024, 0), EFAULT, "listmount by 8");
}

CHECKS
