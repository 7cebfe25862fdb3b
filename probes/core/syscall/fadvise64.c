/* fadvise64: how a file will be read. */
#define CAPABILITY "syscall_fadvise64"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(takes_every_advice) {
    static const int advice[] = {POSIX_FADV_NORMAL, POSIX_FADV_SEQUENTIAL, POSIX_FADV_RANDOM,
                                 POSIX_FADV_NOREUSE, POSIX_FADV_WILLNEED, POSIX_FADV_DONTNEED};
    int fd = file_with("file", "glass");
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        works(syscall(SYS_fadvise64, fd, 0, 0, advice[i]), "fadvise64");
}

CHECK(loses_no_bytes_that_are_not_needed) {
    char bytes[8];
    int fd = file_with("file", "glass");
    works(syscall(SYS_fadvise64, fd, 0, 5, POSIX_FADV_DONTNEED), "fadvise64");
    want(read(fd, bytes, 8) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(takes_a_part_beyond_the_end) {
    int fd = file_with("file", "glass");
    works(syscall(SYS_fadvise64, fd, 1 << 20, 1 << 20, POSIX_FADV_WILLNEED), "fadvise64");
    want(lseek(fd, 0, SEEK_END) == 5, "the file grew");
}

CHECK(refuses_an_unknown_advice) {
    refuses(syscall(SYS_fadvise64, file_with("file", ""), 0, 0, 99), EINVAL, "fadvise64 99");
}

CHECK(refuses_a_negative_length) {
    int fd = file_with("file", "");
    refuses(syscall(SYS_fadvise64, fd, 0, -1L, POSIX_FADV_NORMAL), EINVAL, "fadvise64 of -1 bytes");
}

CHECK(refuses_a_pipe) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_fadvise64, ends[0], 0, 0, POSIX_FADV_NORMAL), ESPIPE, "of a pipe");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_fadvise64, -1, 0, 0, POSIX_FADV_NORMAL), EBADF, "fadvise64 of -1");
}

CHECKS
