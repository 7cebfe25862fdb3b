/* preadv: bytes from a place into several buffers. */
#define CAPABILITY "syscall_preadv"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char one[2], two[8];
static struct iovec places[] = {{one, sizeof one}, {two, sizeof two}};

CHECK(reads_at_a_place_and_leaves_the_position) {
    int fd = file_with("file", "a glass");
    want(works(syscall(SYS_preadv, fd, places, 2, 2, 0), "preadv") == 5, "not five bytes");
    want(memcmp(one, "gl", 2) == 0 && memcmp(two, "ass", 3) == 0, "other bytes");
    want(lseek(fd, 0, SEEK_CUR) == 0, "the position moved");
}

CHECK(refuses_a_place_before_the_start) {
    refuses(syscall(SYS_preadv, file_with("f", ""), places, 2, -1L, -1L), EINVAL, "preadv at -1");
}

CHECK(refuses_a_pipe) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_preadv, ends[0], places, 2, 0, 0), ESPIPE, "preadv of a pipe");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_preadv, -1, places, 2, 0, 0), EBADF, "preadv of -1");
}

CHECKS
