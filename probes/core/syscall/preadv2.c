/* preadv2: bytes into several buffers, with flags. */
#define CAPABILITY "syscall_preadv2"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char one[2], two[8];
static struct iovec places[] = {{one, sizeof one}, {two, sizeof two}};

CHECK(reads_at_a_place) {
    int fd = file_with("file", "a glass");
    want(works(syscall(SYS_preadv2, fd, places, 2, 2, 0, 0), "preadv2") == 5, "not five bytes");
    want(memcmp(one, "gl", 2) == 0 && memcmp(two, "ass", 3) == 0, "other bytes");
    want(lseek(fd, 0, SEEK_CUR) == 0, "the position moved");
}

CHECK(reads_at_the_position_if_asked) {
    int fd = file_with("file", "glass");
    want(works(syscall(SYS_preadv2, fd, places, 2, -1L, -1L, 0), "preadv2") == 5, "not five");
    want(lseek(fd, 0, SEEK_CUR) == 5, "the position did not move");
}

CHECK(takes_high_priority) {
    int fd = file_with("file", "glass");
    want(works(syscall(SYS_preadv2, fd, places, 2, 0, 0, RWF_HIPRI), "preadv2") == 5, "not five");
}

CHECK(refuses_unknown_flags) {
    int fd = file_with("file", "glass");
    refuses(syscall(SYS_preadv2, fd, places, 2, 0, 0, 1 << 30), EOPNOTSUPP, "preadv2 with 1<<30");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_preadv2, -1, places, 2, 0, 0, 0), EBADF, "preadv2 of -1");
}

CHECKS
