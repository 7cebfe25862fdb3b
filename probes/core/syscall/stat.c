/* stat: type, size, owner and times of a file, by path. */
#define CAPABILITY "syscall_stat"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_stat

static struct stat facts;

CHECK(reports_size_mode_and_owner) {
    file_with("file", "glass");
    works(syscall(SYS_stat, "file", &facts), "stat");
    want(S_ISREG(facts.st_mode) && (facts.st_mode & 0777) == 0600, "mode %o", facts.st_mode);
    want(facts.st_size == 5 && facts.st_nlink == 1 && facts.st_uid == geteuid(), "other facts");
}

CHECK(follows_a_link) {
    file_with("file", "glass");
    works(symlink("file", "link"), "symlink");
    works(syscall(SYS_stat, "link", &facts), "stat");
    want(S_ISREG(facts.st_mode), "it describes the link");
}

CHECK(reports_when_a_file_was_changed) {
    struct timespec times[] = {{.tv_sec = 1}, {.tv_sec = 1234567, .tv_nsec = 5000}};
    int fd = file_with("file", "");
    works(futimens(fd, times), "futimens");
    works(syscall(SYS_stat, "file", &facts), "stat");
    want(facts.st_mtim.tv_sec == 1234567 && facts.st_mtim.tv_nsec == 5000, "another time");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_stat, "nothing", &facts), ENOENT, "stat of nothing");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_stat, "/", (void *)8), EFAULT, "stat to 8");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no stat");
}

#endif

CHECKS
