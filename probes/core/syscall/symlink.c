/* symlink: a link that points by name. */
#define CAPABILITY "syscall_symlink"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_symlink

CHECK(makes_a_link_that_leads_on) {
    char byte, target[8] = "";
    file_with("file", "g");
    works(syscall(SYS_symlink, "file", "link"), "symlink");
    want(readlink("link", target, sizeof target) == 4 && !memcmp(target, "file", 4), "elsewhere");
    int fd = (int)works(open("link", O_RDONLY), "open");
    want(read(fd, &byte, 1) == 1 && byte == 'g', "another file");
}

CHECK(may_lead_nowhere) {
    own_directory();
    works(syscall(SYS_symlink, "/nowhere/at all", "link"), "symlink");
    refuses(access("link", F_OK), ENOENT, "access through the link");
}

CHECK(refuses_a_name_that_is_taken) {
    file_with("file", "");
    refuses(syscall(SYS_symlink, "x", "file"), EEXIST, "symlink over a file");
}

CHECK(refuses_an_empty_target) {
    own_directory();
    refuses(syscall(SYS_symlink, "", "link"), ENOENT, "symlink to nothing");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no symlink");
}

#endif

CHECKS
