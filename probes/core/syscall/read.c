/* read: bytes of a file, a pipe and a directory. */
#define CAPABILITY "syscall_read"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char bytes[16];

CHECK(gives_what_was_written) {
    int ends[2];
    works(pipe(ends), "pipe");
    works(write(ends[1], "glass", 5), "write");
    want(works(syscall(SYS_read, ends[0], bytes, sizeof bytes), "read") == 5, "not five bytes");
    want(memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(moves_the_offset_and_ends_with_0) {
    int fd = (int)works(open(scratch("read"), O_CREAT | O_RDWR | O_TRUNC, 0600), "open");
    works(write(fd, "abc", 3), "write");
    works(lseek(fd, 1, SEEK_SET), "lseek");
    want(syscall(SYS_read, fd, bytes, sizeof bytes) == 2 && bytes[0] == 'b', "not the rest");
    want(syscall(SYS_read, fd, bytes, sizeof bytes) == 0, "no end of file");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_read, -1, bytes, 1), EBADF, "read of -1");
}

CHECK(refuses_a_descriptor_for_writing) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_read, ends[1], bytes, 1), EBADF, "read of a pipe's writing end");
}

CHECK(refuses_a_directory) {
    int fd = (int)works(open("/", O_RDONLY | O_DIRECTORY), "open /");
    refuses(syscall(SYS_read, fd, bytes, 1), EISDIR, "read of a directory");
}

CHECK(refuses_a_bad_address) {
    int ends[2];
    works(pipe(ends), "pipe");
    works(write(ends[1], "x", 1), "write");
    refuses(syscall(SYS_read, ends[0], (void *)8, 1), EFAULT, "read to address 8");
}

CHECK(refuses_to_wait_where_it_must_not) {
    int ends[2];
    works(pipe2(ends, O_NONBLOCK), "pipe2");
    refuses(syscall(SYS_read, ends[0], bytes, 1), EAGAIN, "read of an empty pipe");
}

CHECKS
