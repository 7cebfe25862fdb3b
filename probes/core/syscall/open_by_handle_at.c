/* open_by_handle_at: a file opened apart from every path. */
#define CAPABILITY "syscall_open_by_handle_at"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    struct file_handle head;
    unsigned char room[MAX_HANDLE_SZ];
} handle = {.head.handle_bytes = 8};

CHECK(refuses_a_handle_without_bytes) {
    own_directory();
    int place = (int)works(open(".", O_RDONLY), "open .");
    handle.head.handle_bytes = 0;
    refuses(syscall(SYS_open_by_handle_at, place, &handle, O_RDONLY), EINVAL, "a handle of 0");
}

CHECK(refuses_a_handle_of_nothing) {
    own_directory();
    int place = (int)works(open(".", O_RDONLY), "open .");
    handle.head.handle_type = 1; /* an inode and its generation: 0, which is none */
    refuses(syscall(SYS_open_by_handle_at, place, &handle, O_RDONLY), ESTALE, "a handle of 0");
}

CHECK(opens_the_file_that_the_handle_names) {
    int mount_id;
    char bytes[8];
    file_with("file", "glass");
    int place = (int)works(open(".", O_RDONLY), "open .");
    handle.head.handle_bytes = MAX_HANDLE_SZ;
    if (name_to_handle_at(AT_FDCWD, "file", &handle.head, &mount_id, 0) < 0 && errno == EOPNOTSUPP)
        unavailable("this file system has no handles");
    int fd = (int)works(syscall(SYS_open_by_handle_at, place, &handle, O_RDONLY), "it");
    want(read(fd, bytes, 8) == 5 && memcmp(bytes, "glass", 5) == 0, "another file");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_open_by_handle_at, -1, &handle, O_RDONLY), EBADF, "beneath -1");
}

CHECKS
