/* readlink: where a link points. */
#define CAPABILITY "syscall_readlink"
#include "_runner_c.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_readlink

static char target[16];

CHECK(reports_where_a_link_points) {
    own_directory();
    works(symlink("glass house", "link"), "symlink");
    want(works(syscall(SYS_readlink, "link", target, 16), "readlink") == 11, "another length");
    want(memcmp(target, "glass house", 11) == 0, "%.16s", target);
}

CHECK(cuts_what_has_no_room) {
    own_directory();
    works(symlink("glass house", "link"), "symlink");
    want(works(syscall(SYS_readlink, "link", target, 5), "readlink") == 5, "not five bytes");
    want(memcmp(target, "glass", 6) == 0, "it wrote further");
}

CHECK(refuses_a_file) {
    file_with("file", "");
    refuses(syscall(SYS_readlink, "file", target, 16), EINVAL, "readlink of a file");
}

CHECK(refuses_no_room) {
    own_directory();
    works(symlink("glass", "link"), "symlink");
    refuses(syscall(SYS_readlink, "link", target, 0), EINVAL, "readlink into 0 bytes");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_readlink, "nothing", target, 16), ENOENT, "readlink of nothing");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no readlink");
}

#endif

CHECKS
