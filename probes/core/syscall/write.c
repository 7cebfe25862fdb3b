/* write: bytes to a file, a pipe and nowhere. */
#define CAPABILITY "syscall_write"
#include "_runner_c.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(puts_bytes_where_the_position_is) {
    char bytes[16] = "";
    int fd = file_with("file", "green house");
    works(lseek(fd, 6, SEEK_SET), "lseek");
    want(works(syscall(SYS_write, fd, "glass", 5), "write") == 5, "not five bytes");
    want(pread(fd, bytes, sizeof bytes, 0) == 11, "another size");
    want(memcmp(bytes, "green glass", 11) == 0, "other bytes");
    want(lseek(fd, 0, SEEK_CUR) == 11, "the position did not move");
}

CHECK(goes_to_the_end_with_append) {
    char bytes[16] = "";
    int fd = file_with("file", "ab");
    int appending = (int)works(open("file", O_WRONLY | O_APPEND), "open");
    works(syscall(SYS_write, appending, "cd", 2), "write");
    want(read(fd, bytes, sizeof bytes) == 4 && memcmp(bytes, "abcd", 4) == 0, "other bytes");
}

CHECK(of_nothing_gives_0) {
    int fd = file_with("file", "");
    want(works(syscall(SYS_write, fd, "x", 0), "write") == 0, "something was written");
    want(lseek(fd, 0, SEEK_END) == 0, "the file grew");
}

CHECK(raises_sigpipe_where_nobody_reads) {
    int ends[2];
    works(pipe(ends), "pipe");
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    refuses(syscall(SYS_write, ends[1], "x", 1), EPIPE, "write to a pipe that nobody reads");
}

CHECK(ends_at_the_limit_of_a_files_size) {
    int fd = file_with("file", "");
    struct rlimit limit = {4, 4};
    signal(SIGXFSZ, SIG_IGN);
    works(setrlimit(RLIMIT_FSIZE, &limit), "setrlimit");
    want(works(syscall(SYS_write, fd, "glass", 5), "write") == 4, "not up to the limit");
    refuses(syscall(SYS_write, fd, "s", 1), EFBIG, "write beyond the limit");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_write, -1, "x", 1), EBADF, "write to -1");
}

CHECK(refuses_a_descriptor_for_reading) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_write, ends[0], "x", 1), EBADF, "write to a pipe's reading end");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_write, file_with("file", ""), (void *)8, 1), EFAULT, "write from 8");
}

CHECK(refuses_to_wait_where_it_must_not) {
    static char much[1 << 16];
    int ends[2];
    works(pipe2(ends, O_NONBLOCK), "pipe2");
    for (int i = 0; i < 64 && write(ends[1], much, sizeof much) > 0; i++)
        ;
    refuses(syscall(SYS_write, ends[1], much, sizeof much), EAGAIN, "write to a full pipe");
}

CHECKS
