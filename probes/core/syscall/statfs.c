/* statfs: the file system of a path. */
#define CAPABILITY "syscall_statfs"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static struct statfs facts;

CHECK(reports_sizes_that_make_sense) {
    own_directory();
    works(syscall(SYS_statfs, ".", &facts), "statfs");
    want(facts.f_bsize > 0 && facts.f_bfree <= facts.f_blocks, "sizes without sense");
    want(facts.f_namelen >= 255, "short names only");
}

CHECK(knows_proc) {
    works(syscall(SYS_statfs, "/proc", &facts), "statfs");
    want(facts.f_type == 0x9fa0, "type %lx", (long)facts.f_type);
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_statfs, "nothing", &facts), ENOENT, "statfs of nothing");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_statfs, "/", (void *)8), EFAULT, "statfs to 8");
}

CHECKS
