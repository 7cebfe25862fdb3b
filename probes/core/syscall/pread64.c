/* pread64: bytes from a place, with the position left alone. */
#define CAPABILITY "syscall_pread64"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char bytes[16];

CHECK(reads_at_a_place_and_leaves_the_position) {
    int fd = file_with("file", "abcdef");
    want(works(syscall(SYS_pread64, fd, bytes, 2, 3), "pread64") == 2, "not two bytes");
    want(memcmp(bytes, "de", 2) == 0, "other bytes");
    want(lseek(fd, 0, SEEK_CUR) == 0, "the position moved");
}

CHECK(gives_0_beyond_the_end) {
    want(syscall(SYS_pread64, file_with("file", "abc"), bytes, 2, 100) == 0, "not the end");
}

CHECK(refuses_a_place_before_the_start) {
    refuses(syscall(SYS_pread64, file_with("file", ""), bytes, 1, -1L), EINVAL, "pread64 at -1");
}

CHECK(refuses_a_pipe) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_pread64, ends[0], bytes, 1, 0), ESPIPE, "pread64 of a pipe");
}

CHECK(refuses_a_descriptor_for_writing) {
    file_with("file", "abc");
    int fd = (int)works(open("file", O_WRONLY), "open");
    refuses(syscall(SYS_pread64, fd, bytes, 1, 0), EBADF, "pread64 of a file for writing");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_pread64, file_with("f", "abc"), (void *)8, 1, 0), EFAULT, "pread64 to 8");
}

CHECKS
