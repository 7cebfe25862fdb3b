/* readv: bytes into several places at once. */
#define CAPABILITY "syscall_readv"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

CHECK(fills_one_buffer_after_the_other) {
    char one[2], two[8];
    struct iovec places[] = {{one, sizeof one}, {two, sizeof two}};
    int fd = file_with("file", "glass");
    want(works(syscall(SYS_readv, fd, places, 2), "readv") == 5, "not five bytes");
    want(memcmp(one, "gl", 2) == 0 && memcmp(two, "ass", 3) == 0, "other bytes");
    want(lseek(fd, 0, SEEK_CUR) == 5, "the position did not move");
}

CHECK(of_no_buffers_gives_0) {
    want(syscall(SYS_readv, file_with("file", "glass"), NULL, 0) == 0, "something was read");
}

CHECK(refuses_too_many_buffers) {
    static struct iovec places[1025];
    refuses(syscall(SYS_readv, file_with("file", ""), places, 1025), EINVAL, "readv of 1025");
}

CHECK(refuses_a_size_beyond_all) {
    char byte;
    struct iovec place = {&byte, (size_t)-1};
    refuses(syscall(SYS_readv, file_with("file", "x"), &place, 1), EINVAL, "readv of all");
}

CHECK(refuses_a_bad_list) {
    refuses(syscall(SYS_readv, file_with("file", "x"), (void *)8, 1), EFAULT, "readv by 8");
}

CHECK(refuses_a_closed_descriptor) {
    char byte;
    struct iovec place = {&byte, 1};
    refuses(syscall(SYS_readv, -1, &place, 1), EBADF, "readv of -1");
}

CHECKS
