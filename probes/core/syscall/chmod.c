/* chmod: the permission bits of a file, by path. */
#define CAPABILITY "syscall_chmod"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_chmod

CHECK(changes_the_bits) {
    struct stat facts;
    file_with("file", "");
    works(syscall(SYS_chmod, "file", 0751), "chmod");
    works(stat("file", &facts), "stat");
    want((facts.st_mode & 07777) == 0751, "mode %o", facts.st_mode & 07777);
}

CHECK(changes_the_sticky_bit_of_a_directory) {
    struct stat facts;
    own_directory();
    works(mkdir("directory", 0700), "mkdir");
    works(syscall(SYS_chmod, "directory", 01777), "chmod");
    works(stat("directory", &facts), "stat");
    want((facts.st_mode & 07777) == 01777, "mode %o", facts.st_mode & 07777);
}

CHECK(follows_a_link) {
    struct stat facts;
    int fd = file_with("file", "");
    works(symlink("file", "link"), "symlink");
    works(syscall(SYS_chmod, "link", 0640), "chmod");
    works(fstat(fd, &facts), "fstat");
    want((facts.st_mode & 07777) == 0640, "mode %o", facts.st_mode & 07777);
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_chmod, "nothing", 0600), ENOENT, "chmod of nothing");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_chmod, (void *)8, 0600), EFAULT, "chmod of the path at 8");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no chmod");
}

#endif

CHECKS
