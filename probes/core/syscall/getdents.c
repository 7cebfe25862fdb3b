/* getdents: the names in a directory, in the old form. */
#define CAPABILITY "syscall_getdents"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_getdents

struct entry {
    unsigned long inode;
    unsigned long offset;
    unsigned short size;
    char name[];
};

static char room[4096] __attribute__((aligned(8)));

static int has(const char *name, long size) {
    for (long at = 0; at < size; at += ((struct entry *)(room + at))->size)
        if (strcmp(((struct entry *)(room + at))->name, name) == 0)
            return 1;
    return 0;
}

CHECK(lists_the_names) {
    file_with("file", "");
    int fd = (int)works(open(".", O_RDONLY), "open .");
    long size = works(syscall(SYS_getdents, fd, room, sizeof room), "getdents");
    want(has("file", size) && has(".", size) && has("..", size), "a name is missing");
    want(works(syscall(SYS_getdents, fd, room, sizeof room), "getdents") == 0, "it has no end");
}

CHECK(refuses_a_file) {
    refuses(syscall(SYS_getdents, file_with("file", ""), room, sizeof room), ENOTDIR, "of a file");
}

CHECK(refuses_too_little_room) {
    own_directory();
    int fd = (int)works(open(".", O_RDONLY), "open .");
    refuses(syscall(SYS_getdents, fd, room, 1), EINVAL, "getdents in 1 byte");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_getdents, -1, room, sizeof room), EBADF, "getdents of -1");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no getdents");
}

#endif

CHECKS
