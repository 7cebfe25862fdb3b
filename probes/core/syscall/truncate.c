/* truncate: the size of a file, by its path. */
#define CAPABILITY "syscall_truncate"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(cuts_a_file) {
    char bytes[8];
    int fd = file_with("file", "glass");
    works(syscall(SYS_truncate, "file", 2), "truncate");
    want(read(fd, bytes, 8) == 2 && memcmp(bytes, "gl", 2) == 0, "other bytes");
}

CHECK(extends_a_file_with_zeros) {
    char bytes[8] = "xxxxxxx";
    int fd = file_with("file", "g");
    works(syscall(SYS_truncate, "file", 4), "truncate");
    want(read(fd, bytes, 8) == 4 && memcmp(bytes, "g\0\0\0", 4) == 0, "other bytes");
}

CHECK(refuses_a_negative_size) {
    file_with("file", "");
    refuses(syscall(SYS_truncate, "file", -1L), EINVAL, "truncate to -1");
}

CHECK(refuses_a_directory) {
    own_directory();
    refuses(syscall(SYS_truncate, ".", 0), EISDIR, "truncate of a directory");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_truncate, "nothing", 0), ENOENT, "truncate of nothing");
}

CHECKS
