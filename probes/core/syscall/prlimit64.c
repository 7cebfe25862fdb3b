/* prlimit64: limits of the process and of its children, read and lowered. */
#define CAPABILITY "syscall_prlimit64"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct rlimit old, few = {20, 30};

CHECK(sets_and_gives_the_former) {
    struct rlimit before;
    works(getrlimit(RLIMIT_NOFILE, &before), "getrlimit");
    works(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &few, &old), "prlimit64");
    want(old.rlim_cur == before.rlim_cur && old.rlim_max == before.rlim_max, "not the former");
    works(getrlimit(RLIMIT_NOFILE, &before), "getrlimit");
    want(before.rlim_cur == 20 && before.rlim_max == 30, "not set");
}

CHECK(bounds_open_files) {
    works(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &few, NULL), "prlimit64");
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
    refuses(dup(0), EMFILE, "dup");
}

CHECK(only_reads_if_asked) {
    for (int i = 0; i < 16; i++)
        works(syscall(SYS_prlimit64, 0, i, NULL, &old), "prlimit64");
}

CHECK(reaches_a_child_and_not_its_parent) {
    pid_t child = child_that(waits);
    works(syscall(SYS_prlimit64, child, RLIMIT_NOFILE, &few, NULL), "prlimit64");
    works(syscall(SYS_prlimit64, child, RLIMIT_NOFILE, NULL, &old), "prlimit64");
    want(old.rlim_cur == 20 && old.rlim_max == 30, "not set");
    works(getrlimit(RLIMIT_NOFILE, &old), "getrlimit");
    want(old.rlim_cur != 20, "the parent's was set, too");
}

CHECK(refuses_to_raise_the_hard_one) {
    struct rlimit more = {20, 31};
    be_ordinary();
    works(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &few, NULL), "prlimit64");
    refuses(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &more, NULL), EPERM, "a higher one");
}

CHECK(refuses_a_soft_one_above_the_hard_one) {
    struct rlimit odd = {30, 20};
    refuses(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &odd, NULL), EINVAL, "30 above 20");
}

CHECK(refuses_an_unknown_limit) {
    refuses(syscall(SYS_prlimit64, 0, 16, NULL, &old), EINVAL, "limit 16");
}

CHECK(refuses_nobody) {
    refuses(syscall(SYS_prlimit64, 0x7ffffff0, RLIMIT_NOFILE, NULL, &old), ESRCH, "nobody");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, 8, NULL), EFAULT, "a limit at address 8");
    refuses(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, 8), EFAULT, "a limit to address 8");
}

CHECKS
