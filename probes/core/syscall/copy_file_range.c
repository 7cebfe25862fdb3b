/* copy_file_range: a range of one file into another, inside the kernel. */
#define CAPABILITY "syscall_copy_file_range"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char bytes[16];

static long copy(int from, off_t *out_of, int to, off_t *into, size_t size) {
    return syscall(SYS_copy_file_range, from, out_of, to, into, size, 0);
}

CHECK(copies_and_moves_both_positions) {
    int from = file_with("file", "glass"), to = file_with("copy", "");
    want(works(copy(from, NULL, to, NULL, 3), "copy_file_range") == 3, "not three bytes");
    want(lseek(from, 0, SEEK_CUR) == 3 && lseek(to, 0, SEEK_CUR) == 3, "they did not move");
    want(pread(to, bytes, 16, 0) == 3 && memcmp(bytes, "gla", 3) == 0, "other bytes");
}

CHECK(takes_offsets_and_leaves_the_positions) {
    off_t out_of = 2, into = 1;
    int from = file_with("file", "glass"), to = file_with("copy", "ABCD");
    want(works(copy(from, &out_of, to, &into, 2), "copy_file_range") == 2, "not two bytes");
    want(out_of == 4 && into == 3, "the offsets did not move");
    want(lseek(from, 0, SEEK_CUR) == 0 && lseek(to, 0, SEEK_CUR) == 0, "a position moved");
    want(pread(to, bytes, 16, 0) == 4 && memcmp(bytes, "AasD", 4) == 0, "other bytes");
}

CHECK(copies_no_more_than_there_is) {
    int from = file_with("file", "glass"), to = file_with("copy", "");
    want(works(copy(from, NULL, to, NULL, 1000), "copy_file_range") == 5, "not five bytes");
    want(works(copy(from, NULL, to, NULL, 1000), "it") == 0, "something came after the end");
}

CHECK(copies_within_a_file) {
    off_t out_of = 0, into = 5;
    int fd = file_with("file", "glass");
    works(copy(fd, &out_of, fd, &into, 5), "copy_file_range");
    want(read(fd, bytes, 16) == 10 && memcmp(bytes, "glassglass", 10) == 0, "other bytes");
}

CHECK(of_0_bytes_gives_0) {
    int from = file_with("file", "glass"), to = file_with("copy", "");
    want(works(copy(from, NULL, to, NULL, 0), "copy_file_range") == 0, "something was copied");
    want(lseek(to, 0, SEEK_END) == 0, "the file grew");
}

CHECK(refuses_ranges_that_overlap) {
    off_t out_of = 0, into = 2;
    int fd = file_with("file", "glass");
    refuses(copy(fd, &out_of, fd, &into, 4), EINVAL, "copy_file_range onto itself");
}

CHECK(refuses_flags) {
    int from = file_with("file", "glass"), to = file_with("copy", "");
    refuses(syscall(SYS_copy_file_range, from, NULL, to, NULL, 5, 1), EINVAL, "with a flag");
}

CHECK(refuses_a_directory) {
    int to = file_with("copy", "");
    refuses(copy((int)works(open(".", O_RDONLY), "open ."), NULL, to, NULL, 5), EISDIR, "of .");
}

CHECK(refuses_a_pipe) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(copy(ends[0], NULL, file_with("copy", ""), NULL, 5), EINVAL, "from a pipe");
}

CHECK(refuses_a_file_for_reading) {
    int from = file_with("file", "glass");
    int to = (int)works(open("copy", O_CREAT | O_RDONLY, 0600), "open");
    refuses(copy(from, NULL, to, NULL, 5), EBADF, "copy_file_range to a file for reading");
}

CHECK(refuses_a_file_for_writing) {
    int to = file_with("copy", "");
    int from = (int)works(open("file", O_CREAT | O_WRONLY, 0600), "open");
    refuses(copy(from, NULL, to, NULL, 5), EBADF, "copy_file_range from a file for writing");
}

CHECK(refuses_a_file_that_appends) {
    int from = file_with("file", "glass");
    int to = (int)works(open("copy", O_CREAT | O_WRONLY | O_APPEND, 0600), "open");
    refuses(copy(from, NULL, to, NULL, 5), EBADF, "copy_file_range to a file that appends");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(copy(-1, NULL, file_with("copy", ""), NULL, 5), EBADF, "copy_file_range from -1");
}

CHECKS
