/* statmount: what a mount is, by its number. */
#define CAPABILITY "syscall_statmount"
#include "_runner_c.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_statmount
#define SYS_statmount 457
#endif

#define MNT_ID_UNIQUE 0x4000 /* of statx, Linux 6.8 */
#define SB_BASIC 1
#define MNT_BASIC 2

static struct {
    uint32_t size, spare;
    uint64_t mount, wanted;
} request = {.size = 24, .wanted = SB_BASIC | MNT_BASIC};
static struct {
    uint32_t size, options;
    uint64_t mask;
    uint32_t major, minor;
    uint64_t magic;
    uint32_t flags, type;
    uint64_t mount, parent;
    uint8_t more[512];
} facts;

static void choose(const char *path) {
    struct statx of;
    works(statx(AT_FDCWD, path, 0, MNT_ID_UNIQUE, &of), "statx");
    request.mount = of.stx_mnt_id;
}

CHECK(reports_which_type_it_is) {
    choose("/proc");
    works(syscall(SYS_statmount, &request, &facts, sizeof facts, 0), "statmount");
    want(facts.mask & SB_BASIC && facts.magic == 0x9fa0, "type %lx", (long)facts.magic);
    want(facts.mount == request.mount, "another mount");
}

CHECK(refuses_a_mount_that_is_not_there) {
    request.mount = UINT64_MAX - 7;
    refuses(syscall(SYS_statmount, &request, &facts, sizeof facts, 0), ENOENT, "of nothing");
}

CHECK(refuses_a_size_that_is_too_small) {
    request.size = 8;
    refuses(syscall(SYS_statmount, &request, &facts, sizeof facts, 0), EINVAL, "by 8 bytes");
}

CHECK(refuses_unknown_flags) {
    choose("/proc");
    refuses(syscall(SYS_statmount, &request, &facts, sizeof facts, 1 << 20), EINVAL, "1 << 20");
}

CHECK(refuses_a_bad_address) {
    choose("/proc");
    refuses(syscall(SYS_statmount, (void *)8, &facts, sizeof facts, 0), EFAULT, "by 8");
}

CHECKS
