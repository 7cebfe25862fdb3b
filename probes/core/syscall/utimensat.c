/* utimensat: the times of a file, in nanoseconds. */
#define CAPABILITY "syscall_utimensat"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct stat facts;

static long set(const char *path, struct timespec access, struct timespec change, int flags) {
    struct timespec times[] = {access, change};
    return syscall(SYS_utimensat, AT_FDCWD, path, times, flags);
}

static struct timespec at(long seconds, long nanoseconds) {
    return (struct timespec){.tv_sec = seconds, .tv_nsec = nanoseconds};
}

CHECK(sets_both_times) {
    file_with("file", "");
    works(set("file", at(1000, 0), at(2000, 7), 0), "utimensat");
    works(stat("file", &facts), "stat");
    want(facts.st_atime == 1000 && facts.st_mtime == 2000, "other times");
    want(facts.st_mtim.tv_nsec == 7, "%ld ns", facts.st_mtim.tv_nsec);
}

CHECK(leaves_one_and_sets_the_other_to_now) {
    file_with("file", "");
    works(set("file", at(1000, 0), at(2000, 0), 0), "utimensat");
    works(set("file", at(0, UTIME_OMIT), at(0, UTIME_NOW), 0), "utimensat");
    works(stat("file", &facts), "stat");
    want(facts.st_atime == 1000 && facts.st_mtime > 1000000000, "other times");
}

CHECK(takes_an_open_file) {
    struct timespec times[] = {at(1000, 0), at(2000, 0)};
    int fd = file_with("file", "");
    works(syscall(SYS_utimensat, fd, NULL, times, 0), "utimensat");
    works(fstat(fd, &facts), "fstat");
    want(facts.st_mtime == 2000, "other times");
}

CHECK(sets_the_times_of_a_link_itself) {
    own_directory();
    works(symlink("nowhere", "link"), "symlink");
    works(set("link", at(1000, 0), at(2000, 0), AT_SYMLINK_NOFOLLOW), "utimensat");
    works(lstat("link", &facts), "lstat");
    want(facts.st_mtime == 2000, "other times");
}

CHECK(refuses_too_many_nanoseconds) {
    file_with("file", "");
    refuses(set("file", at(0, 0), at(0, 1000000000), 0), EINVAL, "utimensat");
}

CHECK(refuses_unknown_flags) {
    file_with("file", "");
    refuses(set("file", at(0, 0), at(0, 0), 1 << 30), EINVAL, "utimensat with 1 << 30");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(set("nothing", at(0, 0), at(0, 0), 0), ENOENT, "utimensat of nothing");
}

CHECKS
