/* lseek: the position in a file. */
#define CAPABILITY "syscall_lseek"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(sets_the_position) {
    char byte;
    int fd = file_with("file", "abcdef");
    want(works(syscall(SYS_lseek, fd, 2, SEEK_SET), "lseek") == 2, "not 2");
    want(read(fd, &byte, 1) == 1 && byte == 'c', "it reads elsewhere");
}

CHECK(counts_from_here_and_from_the_end) {
    int fd = file_with("file", "abcdef");
    want(works(syscall(SYS_lseek, fd, -1L, SEEK_END), "lseek") == 5, "not before the end");
    want(works(syscall(SYS_lseek, fd, -2L, SEEK_CUR), "lseek") == 3, "not two back");
}

CHECK(goes_beyond_the_end_without_growing_the_file) {
    int fd = file_with("file", "abc");
    want(works(syscall(SYS_lseek, fd, 1000, SEEK_SET), "lseek") == 1000, "not 1000");
    want(lseek(fd, 0, SEEK_END) == 3, "the file grew");
}

CHECK(is_shared_with_copies_of_the_descriptor) {
    int fd = file_with("file", "abc"), copy = (int)works(dup(fd), "dup");
    works(syscall(SYS_lseek, fd, 2, SEEK_SET), "lseek");
    want(lseek(copy, 0, SEEK_CUR) == 2, "the copy has another position");
}

CHECK(finds_where_data_begins) {
    int fd = file_with("file", "");
    works(pwrite(fd, "x", 1, 1 << 20), "pwrite");
    want(works(syscall(SYS_lseek, fd, 0, SEEK_DATA), "lseek SEEK_DATA") > 0, "the hole is data");
}

CHECK(finds_the_end_as_a_hole) {
    int fd = file_with("file", "abc");
    want(works(syscall(SYS_lseek, fd, 0, SEEK_HOLE), "lseek SEEK_HOLE") == 3, "not at the end");
    refuses(syscall(SYS_lseek, fd, 3, SEEK_DATA), ENXIO, "lseek to data beyond the end");
}

CHECK(refuses_a_place_before_the_start) {
    refuses(syscall(SYS_lseek, file_with("file", ""), -1L, SEEK_SET), EINVAL, "lseek to -1");
}

CHECK(refuses_an_unknown_origin) {
    refuses(syscall(SYS_lseek, file_with("file", ""), 0, 99), EINVAL, "lseek from 99");
}

CHECK(refuses_a_pipe) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_lseek, ends[0], 0, SEEK_CUR), ESPIPE, "lseek of a pipe");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_lseek, -1, 0, SEEK_SET), EBADF, "lseek of -1");
}

CHECKS
