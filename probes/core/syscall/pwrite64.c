/* pwrite64: bytes to a place, with the position left alone. */
#define CAPABILITY "syscall_pwrite64"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(writes_at_a_place_and_leaves_the_position) {
    char bytes[16];
    int fd = file_with("file", "abcdef");
    want(works(syscall(SYS_pwrite64, fd, "XY", 2, 3), "pwrite64") == 2, "not two bytes");
    want(lseek(fd, 0, SEEK_CUR) == 0, "the position moved");
    want(read(fd, bytes, 16) == 6 && memcmp(bytes, "abcXYf", 6) == 0, "other bytes");
}

CHECK(fills_a_gap_with_zeros) {
    char bytes[8] = "xxxxxxx";
    int fd = file_with("file", "a");
    works(syscall(SYS_pwrite64, fd, "b", 1, 3), "pwrite64");
    want(read(fd, bytes, 8) == 4 && memcmp(bytes, "a\0\0b", 4) == 0, "other bytes");
}

CHECK(refuses_a_place_before_the_start) {
    refuses(syscall(SYS_pwrite64, file_with("file", ""), "x", 1, -1L), EINVAL, "pwrite64 at -1");
}

CHECK(refuses_a_pipe) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_pwrite64, ends[1], "x", 1, 0), ESPIPE, "pwrite64 of a pipe");
}

CHECK(refuses_a_descriptor_for_reading) {
    file_with("file", "abc");
    int fd = (int)works(open("file", O_RDONLY), "open");
    refuses(syscall(SYS_pwrite64, fd, "x", 1, 0), EBADF, "pwrite64 of a file for reading");
}

CHECKS
