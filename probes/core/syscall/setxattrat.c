/* setxattrat: an attribute of a file beneath an open directory, set. */
#define CAPABILITY "syscall_setxattrat"
#include "_runner_c.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#endif

static long set(int directory, const char *path, unsigned at, uint32_t flags) {
    struct {
        uint64_t value;
        uint32_t size, flags;
    } wanted = {(uintptr_t) "glass", 5, flags};
    long result =
        syscall(SYS_setxattrat, directory, path, at, "user.pane", &wanted, sizeof wanted);
    if (result == -1 && errno == EOPNOTSUPP)
        unavailable("this file system keeps no attributes");
    return result;
}

CHECK(sets_an_attribute) {
    char value[16];
    int fd = file_with("file", ""), here = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    works(set(here, "file", 0, 0), "setxattrat");
    want(fgetxattr(fd, "user.pane", value, 16) == 5 && !memcmp(value, "glass", 5), "another");
}

CHECK(takes_an_open_file) {
    char value[16];
    int fd = file_with("file", "");
    works(set(fd, "", AT_EMPTY_PATH, 0), "setxattrat");
    want(fgetxattr(fd, "user.pane", value, 16) == 5, "it was not set");
}

CHECK(refuses_to_make_what_is_there_if_asked) {
    file_with("file", "");
    works(set(AT_FDCWD, "file", 0, 0), "setxattrat");
    refuses(set(AT_FDCWD, "file", 0, XATTR_CREATE), EEXIST, "setxattrat with XATTR_CREATE");
}

CHECK(refuses_unknown_flags) {
    file_with("file", "");
    refuses(set(AT_FDCWD, "file", 1 << 30, 0), EINVAL, "setxattrat with 1 << 30");
}

CHECK(refuses_a_closed_directory) {
    refuses(set(-1, "file", 0, 0), EBADF, "setxattrat beneath -1");
}

CHECKS
