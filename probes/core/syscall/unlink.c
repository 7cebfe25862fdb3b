/* unlink: a name, removed. */
#define CAPABILITY "syscall_unlink"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_unlink

CHECK(removes_a_name) {
    file_with("file", "");
    works(syscall(SYS_unlink, "file"), "unlink");
    refuses(access("file", F_OK), ENOENT, "the name");
}

CHECK(leaves_an_open_file_usable) {
    char byte;
    struct stat facts;
    int fd = file_with("file", "g");
    works(syscall(SYS_unlink, "file"), "unlink");
    want(read(fd, &byte, 1) == 1 && byte == 'g', "its bytes are gone");
    works(fstat(fd, &facts), "fstat");
    want(facts.st_nlink == 0, "it still has a name");
}

CHECK(removes_a_link_and_not_what_it_points_to) {
    file_with("file", "");
    works(symlink("file", "link"), "symlink");
    works(syscall(SYS_unlink, "link"), "unlink");
    works(access("file", F_OK), "access");
}

CHECK(refuses_a_directory) {
    own_directory();
    works(mkdir("directory", 0700), "mkdir");
    refuses(syscall(SYS_unlink, "directory"), EISDIR, "unlink of a directory");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_unlink, "nothing"), ENOENT, "unlink of nothing");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no unlink");
}

#endif

CHECKS
