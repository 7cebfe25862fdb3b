/* migrate_pages: a process's memory moved between NUMA nodes; from the first to the first. */
#define CAPABILITY "syscall_migrate_pages"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static unsigned long first = 1;

CHECK(leaves_what_is_there_already) {
    want(works(syscall(SYS_migrate_pages, 0, 64, &first, &first), "migrate_pages") == 0, "moved");
}

CHECK(refuses_a_process_that_is_not_there) {
    refuses(syscall(SYS_migrate_pages, 0x7ffffffe, 64, &first, &first), ESRCH, "of nobody");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_migrate_pages, 0, 64, (void *)8, &first), EFAULT, "nodes at 8");
}

CHECKS
