/* listxattr: the attributes of a file, by path. */
#define CAPABILITY "syscall_listxattr"
#include "_runner_c.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static char names[256];

/* A file with two attributes; that needs a file system that keeps them. */
static void make(void) {
    file_with("file", "");
    works_if_offered(setxattr("file", "user.one", "1", 1, 0), EOPNOTSUPP, "setxattr");
    works(setxattr("file", "user.two", "2", 1, 0), "setxattr");
}

CHECK(lists_the_names) {
    make();
    long size = works(syscall(SYS_listxattr, "file", names, sizeof names), "listxattr");
    want(memmem(names, (size_t)size, "user.one", 9) && memmem(names, (size_t)size, "user.two", 9),
         "a name is missing");
}

CHECK(reports_how_much_room_it_needs) {
    make();
    want(works(syscall(SYS_listxattr, "file", NULL, 0), "listxattr") >= 18, "less than two names");
}

CHECK(refuses_too_little_room) {
    make();
    refuses(syscall(SYS_listxattr, "file", names, 4), ERANGE, "listxattr in 4 bytes");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_listxattr, "nothing", names, sizeof names), ENOENT, "of nothing");
}

CHECKS
