/* setfsgid: the group by which files are used. */
#define CAPABILITY "syscall_setfsgid"
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
        sscanf(line, "Gid: %*u %*u %*u %u", &id);
    return id;
}

CHECK(gives_the_former_one) {
    want(syscall(SYS_setfsgid, getegid()) == getegid(), "another");
    want(in_proc() == getegid(), "/proc says otherwise");
}

CHECK(of_minus_1_only_reads) {
    want(syscall(SYS_setfsgid, -1) == getegid(), "another");
    want(in_proc() == getegid(), "it has changed");
}

CHECK(decides_whose_new_files_are) {
    struct stat status;
    if (!holds(CAP_SETGID))
        unavailable("it takes CAP_SETGID to have more than one group");
    want(syscall(SYS_setfsgid, 65534) == getegid(), "another");
    int fd = (int)works(memfd_create("file", 0), "memfd_create");
    syscall(SYS_setfsgid, getegid());
    works(fstat(fd, &status), "fstat");
    want(status.st_gid == 65534, "the file is %u's", status.st_gid);
}

CHECK(leaves_it_where_it_is_not_allowed) {
    be_ordinary();
    want(syscall(SYS_setfsgid, getegid() + 1) == getegid(), "another");
    want(in_proc() == getegid(), "it has changed");
}

CHECKS
