/* sendfile: bytes from a file to another descriptor, inside the kernel. */
#define CAPABILITY "syscall_sendfile"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char bytes[16];

CHECK(moves_bytes_into_a_pipe) {
    int ends[2], fd = file_with("file", "glass");
    works(pipe(ends), "pipe");
    want(works(syscall(SYS_sendfile, ends[1], fd, NULL, 16), "sendfile") == 5, "not five bytes");
    want(read(ends[0], bytes, 16) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
    want(lseek(fd, 0, SEEK_CUR) == 5, "the position did not move");
}

CHECK(moves_bytes_into_a_file) {
    int fd = file_with("file", "glass"), to = file_with("copy", "");
    works(syscall(SYS_sendfile, to, fd, NULL, 16), "sendfile");
    want(pread(to, bytes, 16, 0) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(takes_an_offset_and_leaves_the_position) {
    off_t from = 2;
    int fd = file_with("file", "glass"), to = file_with("copy", "");
    want(works(syscall(SYS_sendfile, to, fd, &from, 2), "sendfile") == 2, "not two bytes");
    want(pread(to, bytes, 16, 0) == 2 && memcmp(bytes, "as", 2) == 0, "other bytes");
    want(from == 4 && lseek(fd, 0, SEEK_CUR) == 0, "the offset, or the position, is wrong");
}

CHECK(ends_with_0) {
    int fd = file_with("file", ""), to = file_with("copy", "");
    want(syscall(SYS_sendfile, to, fd, NULL, 16) == 0, "something came from an empty file");
}

CHECK(refuses_to_read_from_a_directory) {
    int to = file_with("copy", "");
    refuses(syscall(SYS_sendfile, to, works(open(".", O_RDONLY), "open ."), NULL, 1), EINVAL, "it");
}

CHECK(refuses_a_file_that_appends) {
    int fd = file_with("file", "glass");
    int end = (int)works(open("copy", O_CREAT | O_WRONLY | O_APPEND, 0600), "open");
    refuses(syscall(SYS_sendfile, end, fd, NULL, 5), EINVAL, "sendfile to a file that appends");
}

CHECK(refuses_a_file_for_reading) {
    int fd = file_with("file", "glass"), to = (int)works(open("file", O_RDONLY), "open");
    refuses(syscall(SYS_sendfile, to, fd, NULL, 5), EBADF, "sendfile to a file for reading");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_sendfile, file_with("copy", ""), -1, NULL, 5), EBADF, "sendfile from -1");
}

CHECKS
