/* utimes: the times of a file, in microseconds. */
#define CAPABILITY "syscall_utimes"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef SYS_utimes

CHECK(sets_both_times) {
    struct stat facts;
    struct timeval times[] = {{1000, 5}, {2000, 7}};
    file_with("file", "");
    works(syscall(SYS_utimes, "file", times), "utimes");
    works(stat("file", &facts), "stat");
    want(facts.st_atime == 1000 && facts.st_mtime == 2000, "other times");
    want(facts.st_mtim.tv_nsec == 7000, "%ld ns", facts.st_mtim.tv_nsec);
}

CHECK(refuses_a_million_microseconds) {
    struct timeval times[] = {{1000, 0}, {2000, 1000000}};
    file_with("file", "");
    refuses(syscall(SYS_utimes, "file", times), EINVAL, "utimes");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_utimes, "nothing", NULL), ENOENT, "utimes of nothing");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no utimes");
}

#endif

CHECKS
