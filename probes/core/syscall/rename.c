/* rename: another name for a file or directory. */
#define CAPABILITY "syscall_rename"
#include "_runner_c.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_rename

CHECK(moves_a_file) {
    char bytes[8];
    file_with("one", "glass");
    works(syscall(SYS_rename, "one", "two"), "rename");
    refuses(access("one", F_OK), ENOENT, "the old name");
    int fd = (int)works(open("two", O_RDONLY), "open");
    want(read(fd, bytes, 8) == 5 && memcmp(bytes, "glass", 5) == 0, "another file");
}

CHECK(replaces_a_file) {
    char bytes[8];
    file_with("one", "glass");
    file_with("two", "stone");
    works(syscall(SYS_rename, "one", "two"), "rename");
    int fd = (int)works(open("two", O_RDONLY), "open");
    want(read(fd, bytes, 8) == 5 && memcmp(bytes, "glass", 5) == 0, "another file");
}

CHECK(replaces_an_empty_directory) {
    own_directory();
    works(mkdir("one", 0700), "mkdir");
    works(mkdir("one/inside", 0700), "mkdir");
    works(mkdir("two", 0700), "mkdir");
    works(syscall(SYS_rename, "one", "two"), "rename");
    works(access("two/inside", F_OK), "access");
}

CHECK(refuses_to_replace_a_full_directory) {
    own_directory();
    works(mkdir("one", 0700), "mkdir");
    works(mkdir("two", 0700), "mkdir");
    works(mkdir("two/inside", 0700), "mkdir");
    refuses(syscall(SYS_rename, "one", "two"), ENOTEMPTY, "rename");
}

CHECK(refuses_a_directory_into_itself) {
    own_directory();
    works(mkdir("one", 0700), "mkdir");
    refuses(syscall(SYS_rename, "one", "one/two"), EINVAL, "rename");
}

CHECK(refuses_a_file_for_a_directory) {
    file_with("file", "");
    works(mkdir("directory", 0700), "mkdir");
    refuses(syscall(SYS_rename, "file", "directory"), EISDIR, "a file over a directory");
    refuses(syscall(SYS_rename, "directory", "file"), ENOTDIR, "a directory over a file");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_rename, "nothing", "two"), ENOENT, "rename of nothing");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no rename");
}

#endif

CHECKS
