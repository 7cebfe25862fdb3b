/* pwritev2: bytes from several buffers, with flags. */
#define CAPABILITY "syscall_pwritev2"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static struct iovec places[] = {{"gl", 2}, {"ass", 3}};
static char bytes[16];

CHECK(writes_at_a_place) {
    int fd = file_with("file", "a");
    want(works(syscall(SYS_pwritev2, fd, places, 2, 1, 0, 0), "pwritev2") == 5, "not five bytes");
    want(read(fd, bytes, 16) == 6 && memcmp(bytes, "aglass", 6) == 0, "other bytes");
}

CHECK(writes_at_the_position_if_asked) {
    int fd = file_with("file", "ab");
    works(lseek(fd, 1, SEEK_SET), "lseek");
    works(syscall(SYS_pwritev2, fd, places, 2, -1L, -1L, 0), "pwritev2");
    want(lseek(fd, 0, SEEK_CUR) == 6, "the position did not move");
}

CHECK(goes_to_the_end_with_append) {
    int fd = file_with("file", "ab");
    works(syscall(SYS_pwritev2, fd, places, 2, 0, 0, RWF_APPEND), "pwritev2 with RWF_APPEND");
    want(pread(fd, bytes, 16, 0) == 7 && memcmp(bytes, "abglass", 7) == 0, "other bytes");
}

CHECK(writes_out_with_dsync_and_sync) {
    int fd = file_with("file", "");
    works(syscall(SYS_pwritev2, fd, places, 2, 0, 0, RWF_DSYNC), "pwritev2 with RWF_DSYNC");
    works(syscall(SYS_pwritev2, fd, places, 2, 5, 0, RWF_SYNC), "pwritev2 with RWF_SYNC");
    want(read(fd, bytes, 16) == 10, "other bytes");
}

CHECK(refuses_unknown_flags) {
    int fd = file_with("file", "");
    refuses(syscall(SYS_pwritev2, fd, places, 2, 0, 0, 1 << 30), EOPNOTSUPP, "pwritev2 with 1<<30");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_pwritev2, -1, places, 2, 0, 0, 0), EBADF, "pwritev2 to -1");
}

CHECKS
