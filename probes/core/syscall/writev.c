/* writev: bytes from several places at once. */
#define CAPABILITY "syscall_writev"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

CHECK(writes_one_buffer_after_the_other) {
    char bytes[8];
    struct iovec places[] = {{"gl", 2}, {"", 0}, {"ass", 3}};
    int fd = file_with("file", "");
    want(works(syscall(SYS_writev, fd, places, 3), "writev") == 5, "not five bytes");
    want(pread(fd, bytes, 8, 0) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(is_one_message_on_a_pipe) {
    char bytes[8];
    int ends[2];
    struct iovec places[] = {{"a", 1}, {"b", 1}};
    works(pipe(ends), "pipe");
    works(syscall(SYS_writev, ends[1], places, 2), "writev");
    want(read(ends[0], bytes, 8) == 2, "it came in parts");
}

CHECK(refuses_too_many_buffers) {
    static struct iovec places[1025];
    refuses(syscall(SYS_writev, file_with("file", ""), places, 1025), EINVAL, "writev of 1025");
}

CHECK(refuses_a_bad_address) {
    struct iovec place = {(void *)8, 1};
    refuses(syscall(SYS_writev, file_with("file", ""), &place, 1), EFAULT, "writev from 8");
}

CHECK(refuses_a_closed_descriptor) {
    struct iovec place = {"x", 1};
    refuses(syscall(SYS_writev, -1, &place, 1), EBADF, "writev to -1");
}

CHECKS
