/* sync_file_range: part of a file, written out. */
#define CAPABILITY "syscall_sync_file_range"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALL (SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER)

static long sync_range(int fd, long offset, long size, unsigned flags) {
    return syscall(SYS_sync_file_range, fd, offset, size, flags);
}

CHECK(keeps_what_was_written) {
    char bytes[8];
    int fd = file_with("file", "glass");
    works(sync_range(fd, 0, 5, ALL), "sync_file_range");
    want(read(fd, bytes, 8) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(leaves_the_position_and_the_size) {
    int fd = file_with("file", "glass");
    works(sync_range(fd, 2, 1 << 20, ALL), "sync_file_range beyond the end");
    want(lseek(fd, 0, SEEK_CUR) == 0 && lseek(fd, 0, SEEK_END) == 5, "they moved");
}

CHECK(takes_a_length_of_0_for_all_the_rest) {
    works(sync_range(file_with("file", "glass"), 0, 0, ALL), "sync_file_range");
}

CHECK(starts_writing_without_waiting) {
    int fd = file_with("file", "glass");
    works(sync_range(fd, 0, 5, SYNC_FILE_RANGE_WRITE), "sync_file_range");
}

CHECK(waits_without_writing) {
    int fd = file_with("file", "glass");
    works(sync_range(fd, 0, 5, SYNC_FILE_RANGE_WAIT_BEFORE), "sync_file_range");
}

CHECK(does_nothing_without_flags) {
    works(sync_range(file_with("file", "glass"), 0, 5, 0), "sync_file_range");
}

CHECK(takes_a_directory) {
    own_directory();
    int fd = (int)works(open(".", O_RDONLY), "open .");
    works(sync_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE), "sync_file_range of a directory");
}

CHECK(refuses_unknown_flags) {
    refuses(sync_range(file_with("file", ""), 0, 0, 1 << 20), EINVAL, "sync_file_range");
}

CHECK(refuses_a_place_before_the_start) {
    refuses(sync_range(file_with("file", ""), -1, 1, ALL), EINVAL, "sync_file_range at -1");
}

CHECK(refuses_a_negative_length) {
    refuses(sync_range(file_with("file", ""), 0, -1, ALL), EINVAL, "sync_file_range of -1");
}

CHECK(refuses_a_pipe) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(sync_range(ends[1], 0, 0, ALL), ESPIPE, "sync_file_range of a pipe");
}

CHECK(refuses_a_place_without_a_file) {
    file_with("file", "glass");
    int fd = (int)works(open("file", O_PATH), "open");
    refuses(sync_range(fd, 0, 0, ALL), EBADF, "sync_file_range of an O_PATH descriptor");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(sync_range(-1, 0, 0, ALL), EBADF, "sync_file_range of -1");
}

CHECKS
