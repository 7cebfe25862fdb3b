/* kcmp: whether two processes share a thing of the kernel's. */
#define CAPABILITY "syscall_kcmp"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

static long compare(pid_t other, int kind, long mine, long theirs) {
    return syscall(SYS_kcmp, getpid(), other, kind, mine, theirs);
}

CHECK(reports_copies_of_a_descriptor) {
    int fd = (int)works(open("/dev/null", O_RDONLY), "open"), copy = dup(fd);
    want(works(compare(getpid(), KCMP_FILE, fd, copy), "kcmp") == 0, "a copy is another file");
}

CHECK(reports_files_apart) {
    int fd = (int)works(open("/dev/null", O_RDONLY), "open"), other = open("/dev/null", O_RDONLY);
    long order = works(compare(getpid(), KCMP_FILE, fd, other), "kcmp");
    want(order == 1 || order == 2, "opened twice and the same");
}

CHECK(looks_into_a_child) {
    pid_t child = child_that(waits);
    int fd = (int)works(open("/dev/null", O_RDONLY), "open");
    want(works(compare(child, KCMP_FILE, 2, 2), "kcmp") == 0, "an inherited file is another");
    want(works(compare(child, KCMP_VM, 0, 0), "kcmp") != 0, "memory is shared");
    close(fd);
}

CHECK(refuses_an_unknown_kind) {
    refuses(compare(getpid(), 99, 0, 0), EINVAL, "kind 99");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(compare(getpid(), KCMP_FILE, 1 << 20, 0), EBADF, "a closed descriptor");
}

CHECK(refuses_nobody) {
    refuses(compare(0x7ffffff0, KCMP_VM, 0, 0), ESRCH, "nobody");
}

CHECKS
