/* setfsuid: the user by which files are used. */
#define CAPABILITY "syscall_setfsuid"
#include "_runner_c.h"

#include <linux/capability.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned in_proc(void) {
    char line[128];
    unsigned id = 77;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Uid: %*u %*u %*u %u", &id);
    return id;
}

CHECK(gives_the_former_one) {
    want(syscall(SYS_setfsuid, geteuid()) == geteuid(), "another");
    want(in_proc() == geteuid(), "/proc says otherwise");
}

CHECK(of_minus_1_only_reads) {
    want(syscall(SYS_setfsuid, -1) == geteuid(), "another");
    want(in_proc() == geteuid(), "it has changed");
}

CHECK(decides_whose_new_files_are) {
    struct stat status;
    if (!holds(CAP_SETUID))
        unavailable("it takes CAP_SETUID to have more than one user");
    want(syscall(SYS_setfsuid, 65534) == geteuid(), "another");
    int fd = (int)works(memfd_create("file", 0), "memfd_create");
    syscall(SYS_setfsuid, geteuid());
    works(fstat(fd, &status), "fstat");
    want(status.st_uid == 65534, "the file is %u's", status.st_uid);
}

CHECK(leaves_it_where_it_is_not_allowed) {
    be_ordinary();
    want(syscall(SYS_setfsuid, geteuid() + 1) == geteuid(), "another");
    want(in_proc() == geteuid(), "it has changed");
}

CHECKS
