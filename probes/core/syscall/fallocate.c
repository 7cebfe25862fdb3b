/* fallocate: space of a file: reserved, given back, zeroed. */
#define CAPABILITY "syscall_fallocate"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 65536 /* the largest there are */
static char bytes[4 * PAGE];

static long allocate(int fd, int mode, long offset, long size) {
    return syscall(SYS_fallocate, fd, mode, offset, size);
}

/* A file of four pages of a, b, c and d. */
static int four_pages(void) {
    int fd = file_with("file", "");
    for (int i = 0; i < 4; i++)
        memset(bytes + i * PAGE, 'a' + i, PAGE);
    works(write(fd, bytes, sizeof bytes), "write");
    return fd;
}

static struct stat facts_of(int fd) {
    struct stat facts;
    works(fstat(fd, &facts), "fstat");
    return facts;
}

CHECK(reserves_space_and_grows_the_file) {
    int fd = file_with("file", "");
    works(allocate(fd, 0, 0, 4 * PAGE), "fallocate");
    want(facts_of(fd).st_size == 4 * PAGE, "another size");
    want(facts_of(fd).st_blocks * 512 >= 4 * PAGE, "no space was taken");
}

CHECK(keeps_what_is_there) {
    char found[8];
    int fd = file_with("file", "glass");
    works(allocate(fd, 0, 0, PAGE), "fallocate");
    want(read(fd, found, 6) == 6 && memcmp(found, "glass", 6) == 0, "other bytes");
}

CHECK(never_shortens_a_file) {
    int fd = four_pages();
    works(allocate(fd, 0, 0, 1), "fallocate");
    want(facts_of(fd).st_size == 4 * PAGE, "another size");
}

CHECK(keeps_the_size_if_asked) {
    int fd = file_with("file", "glass");
    works(allocate(fd, FALLOC_FL_KEEP_SIZE, 0, 4 * PAGE), "fallocate");
    want(facts_of(fd).st_size == 5, "the file grew");
}

CHECK(gives_space_back) {
    int fd = four_pages();
    long before = facts_of(fd).st_blocks;
    works(allocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PAGE, 2 * PAGE), "fallocate");
    want(pread(fd, bytes, PAGE, PAGE) == PAGE && bytes[0] == 0, "the bytes are still there");
    want(pread(fd, bytes, 1, 3 * PAGE) == 1 && bytes[0] == 'd', "others are gone, too");
    want(facts_of(fd).st_size == 4 * PAGE, "another size");
    want(facts_of(fd).st_blocks < before, "no space was given back");
}

CHECK(zeroes_a_range) {
    int fd = four_pages();
    works_if_offered(allocate(fd, FALLOC_FL_ZERO_RANGE, PAGE + 1, 1), EOPNOTSUPP, "zeroing");
    want(pread(fd, bytes, 3, PAGE) == 3 && memcmp(bytes, "b\0b", 3) == 0, "other bytes");
}

CHECK(takes_a_range_out) {
    int fd = four_pages();
    works_if_offered(allocate(fd, FALLOC_FL_COLLAPSE_RANGE, PAGE, PAGE), EOPNOTSUPP, "collapsing");
    want(facts_of(fd).st_size == 3 * PAGE, "another size");
    want(pread(fd, bytes, 1, PAGE) == 1 && bytes[0] == 'c', "the rest did not move");
}

CHECK(puts_a_range_in) {
    int fd = four_pages();
    works_if_offered(allocate(fd, FALLOC_FL_INSERT_RANGE, PAGE, PAGE), EOPNOTSUPP, "inserting");
    want(facts_of(fd).st_size == 5 * PAGE, "another size");
    want(pread(fd, bytes, 1, 2 * PAGE) == 1 && bytes[0] == 'b', "the rest did not move");
}

CHECK(refuses_a_hole_that_changes_the_size) {
    int fd = four_pages();
    refuses(allocate(fd, FALLOC_FL_PUNCH_HOLE, 0, PAGE), EOPNOTSUPP, "a hole");
}

CHECK(refuses_an_unknown_mode) {
    refuses(allocate(file_with("file", ""), 1 << 20, 0, PAGE), EOPNOTSUPP, "fallocate");
}

CHECK(refuses_no_length) {
    refuses(allocate(file_with("file", ""), 0, 0, 0), EINVAL, "fallocate of 0 bytes");
}

CHECK(refuses_a_place_before_the_start) {
    refuses(allocate(file_with("file", ""), 0, -1, PAGE), EINVAL, "fallocate at -1");
}

CHECK(refuses_a_size_beyond_all) {
    refuses(allocate(file_with("file", ""), 0, 0x7fffffffffffffff, 1), EFBIG, "fallocate");
}

CHECK(refuses_more_than_the_limit_of_a_files_size) {
    int fd = file_with("file", "");
    struct rlimit limit = {PAGE, PAGE};
    signal(SIGXFSZ, SIG_IGN);
    works(setrlimit(RLIMIT_FSIZE, &limit), "setrlimit");
    refuses(allocate(fd, 0, 0, 2 * PAGE), EFBIG, "fallocate beyond the limit");
}

CHECK(refuses_a_file_for_reading) {
    file_with("file", "");
    int fd = (int)works(open("file", O_RDONLY), "open");
    refuses(allocate(fd, 0, 0, PAGE), EBADF, "fallocate of a file for reading");
}

CHECK(refuses_a_pipe) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(allocate(ends[1], 0, 0, PAGE), ESPIPE, "fallocate of a pipe");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(allocate(-1, 0, 0, PAGE), EBADF, "fallocate of -1");
}

CHECKS
