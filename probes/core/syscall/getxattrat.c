/* getxattrat: an attribute of a file beneath an open directory, read. */
#define CAPABILITY "syscall_getxattrat"
#include "_runner_c.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef SYS_getxattrat
#define SYS_getxattrat 464
#endif

static char value[16];

static struct {
    uint64_t value;
    uint32_t size, flags;
} wanted = {.size = sizeof value};

static long get(int directory, const char *path, unsigned flags, const char *name) {
    wanted.value = (uintptr_t)value;
    return syscall(SYS_getxattrat, directory, path, flags, name, &wanted, sizeof wanted);
}

/* A file with an attribute; that needs a file system that keeps them. */
static int make(void) {
    int fd = file_with("file", "");
    works_if_offered(fsetxattr(fd, "user.pane", "glass", 5, 0), EOPNOTSUPP, "fsetxattr");
    return fd;
}

CHECK(reads_an_attribute) {
    make();
    int here = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    want(works(get(here, "file", 0, "user.pane"), "getxattrat") == 5, "not five");
    want(memcmp(value, "glass", 5) == 0, "another value");
}

CHECK(takes_an_open_file) {
    want(works(get(make(), "", AT_EMPTY_PATH, "user.pane"), "getxattrat") == 5, "not five");
}

CHECK(refuses_an_attribute_that_is_not_there) {
    make();
    refuses(get(AT_FDCWD, "file", 0, "user.none"), ENODATA, "getxattrat of none");
}

CHECK(refuses_flags_for_the_value) {
    make();
    wanted.flags = XATTR_CREATE;
    refuses(get(AT_FDCWD, "file", 0, "user.pane"), EINVAL, "getxattrat with XATTR_CREATE");
}

CHECK(refuses_a_closed_directory) {
    refuses(get(-1, "file", 0, "user.pane"), EBADF, "getxattrat beneath -1");
}

CHECKS
