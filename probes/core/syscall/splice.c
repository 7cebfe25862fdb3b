/* splice: bytes between a pipe and another descriptor, uncopied. */
#define CAPABILITY "syscall_splice"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static char bytes[16];
static int one[2], two[2];

static void make_pipes(void) {
    works(pipe(one), "pipe");
    works(pipe(two), "pipe");
}

static long splice_to(int from, int to, size_t size) {
    return syscall(SYS_splice, from, NULL, to, NULL, size, 0);
}

CHECK(moves_bytes_from_a_file_to_a_pipe) {
    int fd = file_with("file", "glass");
    make_pipes();
    want(works(splice_to(fd, one[1], 16), "splice") == 5, "not five bytes");
    want(read(one[0], bytes, 16) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
    want(lseek(fd, 0, SEEK_CUR) == 5, "the position did not move");
}

CHECK(moves_bytes_from_a_pipe_to_a_file) {
    int fd = file_with("file", "");
    make_pipes();
    works(write(one[1], "glass", 5), "write");
    want(works(splice_to(one[0], fd, 16), "splice") == 5, "not five bytes");
    want(pread(fd, bytes, 16, 0) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(moves_bytes_from_pipe_to_pipe) {
    make_pipes();
    works(write(one[1], "glass", 5), "write");
    want(works(splice_to(one[0], two[1], 3), "splice") == 3, "not three bytes");
    want(read(two[0], bytes, 16) == 3 && memcmp(bytes, "gla", 3) == 0, "other bytes");
    want(read(one[0], bytes, 16) == 2 && memcmp(bytes, "ss", 2) == 0, "another rest");
}

CHECK(moves_bytes_to_a_socket) {
    int ends[2];
    make_pipes();
    works(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    works(write(one[1], "glass", 5), "write");
    want(works(splice_to(one[0], ends[0], 5), "splice") == 5, "not five bytes");
    want(read(ends[1], bytes, 16) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(reads_at_an_offset_and_leaves_the_position) {
    off_t from = 2;
    int fd = file_with("file", "glass");
    make_pipes();
    want(works(syscall(SYS_splice, fd, &from, one[1], NULL, 2, 0), "splice") == 2, "not two");
    want(read(one[0], bytes, 16) == 2 && memcmp(bytes, "as", 2) == 0, "other bytes");
    want(from == 4 && lseek(fd, 0, SEEK_CUR) == 0, "the offset, or the position, is wrong");
}

CHECK(writes_at_an_offset) {
    off_t to = 3;
    int fd = file_with("file", "glass");
    make_pipes();
    works(write(one[1], "de", 2), "write");
    works(syscall(SYS_splice, one[0], NULL, fd, &to, 2, 0), "splice");
    want(pread(fd, bytes, 16, 0) == 5 && memcmp(bytes, "glade", 5) == 0, "other bytes");
    want(to == 5, "the offset did not move");
}

CHECK(gives_0_at_the_end) {
    make_pipes();
    want(splice_to(file_with("file", ""), one[1], 16) == 0, "something came from an empty file");
    close(two[1]);
    want(splice_to(two[0], one[1], 16) == 0, "something came from a pipe without writers");
}

CHECK(refuses_to_wait_if_asked) {
    make_pipes();
    refuses(syscall(SYS_splice, one[0], NULL, two[1], NULL, 5, SPLICE_F_NONBLOCK), EAGAIN, "it");
}

CHECK(refuses_two_files) {
    int fd = file_with("file", "glass");
    refuses(splice_to(fd, file_with("copy", ""), 5), EINVAL, "splice between files");
}

CHECK(refuses_a_pipe_into_itself) {
    make_pipes();
    works(write(one[1], "glass", 5), "write");
    refuses(splice_to(one[0], one[1], 5), EINVAL, "splice of a pipe into itself");
}

CHECK(refuses_an_offset_for_a_pipe) {
    off_t from = 0;
    make_pipes();
    refuses(syscall(SYS_splice, one[0], &from, two[1], NULL, 5, 0), ESPIPE, "splice at an offset");
}

CHECK(refuses_a_file_that_appends) {
    own_directory();
    make_pipes();
    works(write(one[1], "glass", 5), "write");
    int fd = (int)works(open("file", O_CREAT | O_WRONLY | O_APPEND, 0600), "open");
    refuses(splice_to(one[0], fd, 5), EINVAL, "splice to a file that appends");
}

CHECK(refuses_an_end_of_the_wrong_kind) {
    make_pipes();
    refuses(splice_to(one[1], two[1], 5), EBADF, "splice from a writing end");
    refuses(splice_to(one[0], two[0], 5), EBADF, "splice to a reading end");
}

CHECK(refuses_unknown_flags) {
    make_pipes();
    refuses(syscall(SYS_splice, one[0], NULL, two[1], NULL, 5, 1 << 20), EINVAL, "splice");
}

CHECK(refuses_a_closed_descriptor) {
    make_pipes();
    refuses(splice_to(-1, one[1], 5), EBADF, "splice from -1");
}

CHECKS
