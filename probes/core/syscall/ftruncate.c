/* ftruncate: the size of an open file. */
#define CAPABILITY "syscall_ftruncate"
#include "_runner_c.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(cuts_a_file) {
    char bytes[8];
    int fd = file_with("file", "glass");
    works(syscall(SYS_ftruncate, fd, 2), "ftruncate");
    want(read(fd, bytes, 8) == 2 && memcmp(bytes, "gl", 2) == 0, "other bytes");
}

CHECK(extends_a_file_with_zeros) {
    char bytes[8] = "xxxxxxx";
    int fd = file_with("file", "g");
    works(syscall(SYS_ftruncate, fd, 4), "ftruncate");
    want(read(fd, bytes, 8) == 4 && memcmp(bytes, "g\0\0\0", 4) == 0, "other bytes");
}

CHECK(refuses_more_than_the_limit_of_a_files_size) {
    int fd = file_with("file", "");
    struct rlimit limit = {100, 100};
    signal(SIGXFSZ, SIG_IGN);
    works(setrlimit(RLIMIT_FSIZE, &limit), "setrlimit");
    refuses(syscall(SYS_ftruncate, fd, 101), EFBIG, "ftruncate beyond the limit");
}

CHECK(refuses_a_file_for_reading) {
    file_with("file", "");
    int fd = (int)works(open("file", O_RDONLY), "open");
    refuses(syscall(SYS_ftruncate, fd, 0), EINVAL, "ftruncate of a file for reading");
}

CHECK(refuses_a_pipe) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_ftruncate, ends[1], 0), EINVAL, "ftruncate of a pipe");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_ftruncate, -1, 0), EBADF, "ftruncate of -1");
}

CHECKS
