/* pwritev: bytes from several buffers to a place. */
#define CAPABILITY "syscall_pwritev"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static struct iovec places[] = {{"gl", 2}, {"ass", 3}};

CHECK(writes_at_a_place_and_leaves_the_position) {
    char bytes[8];
    int fd = file_with("file", "a");
    want(works(syscall(SYS_pwritev, fd, places, 2, 1, 0), "pwritev") == 5, "not five bytes");
    want(lseek(fd, 0, SEEK_CUR) == 0, "the position moved");
    want(read(fd, bytes, 8) == 6 && memcmp(bytes, "aglass", 6) == 0, "other bytes");
}

CHECK(refuses_a_place_before_the_start) {
    int fd = file_with("file", "");
    refuses(syscall(SYS_pwritev, fd, places, 2, -1L, -1L), EINVAL, "pwritev at -1");
}

CHECK(refuses_a_pipe) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_pwritev, ends[1], places, 2, 0, 0), ESPIPE, "pwritev of a pipe");
}

CHECK(refuses_a_descriptor_for_reading) {
    file_with("file", "");
    int fd = (int)works(open("file", O_RDONLY), "open");
    refuses(syscall(SYS_pwritev, fd, places, 2, 0, 0), EBADF, "pwritev of a file for reading");
}

CHECKS
