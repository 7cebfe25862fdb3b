/* mknod: a new file, FIFO or socket. */
#define CAPABILITY "syscall_mknod"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_mknod

static mode_t mode_of(const char *path) {
    struct stat facts;
    works(stat(path, &facts), "stat");
    return facts.st_mode;
}

CHECK(makes_a_fifo) {
    own_directory();
    works(syscall(SYS_mknod, "fifo", S_IFIFO | 0600, 0), "mknod");
    want(mode_of("fifo") == (S_IFIFO | 0600), "mode %o", mode_of("fifo"));
    char byte;
    int fd = (int)works(open("fifo", O_RDWR | O_NONBLOCK), "open");
    want(write(fd, "g", 1) == 1 && read(fd, &byte, 1) == 1 && byte == 'g', "it holds nothing");
}

CHECK(makes_a_file_and_a_socket) {
    own_directory();
    works(syscall(SYS_mknod, "file", S_IFREG | 0600, 0), "mknod of a file");
    works(syscall(SYS_mknod, "socket", S_IFSOCK | 0600, 0), "mknod of a socket");
    want(S_ISREG(mode_of("file")) && S_ISSOCK(mode_of("socket")), "they are something else");
}

CHECK(refuses_a_name_that_is_taken) {
    file_with("file", "");
    refuses(syscall(SYS_mknod, "file", S_IFIFO | 0600, 0), EEXIST, "mknod over a file");
}

CHECK(refuses_a_directory) {
    own_directory();
    refuses(syscall(SYS_mknod, "new", S_IFDIR | 0700, 0), EPERM, "mknod of a directory");
}

CHECK(refuses_a_place_that_is_not_there) {
    own_directory();
    refuses(syscall(SYS_mknod, "nothing/fifo", S_IFIFO | 0600, 0), ENOENT, "mknod in nothing");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no mknod");
}

#endif

CHECKS
