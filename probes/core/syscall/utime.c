/* utime: the times of a file, in seconds. */
#define CAPABILITY "syscall_utime"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utime.h>

#ifdef SYS_utime

CHECK(sets_both_times) {
    struct stat facts;
    struct utimbuf times = {.actime = 1000, .modtime = 2000};
    file_with("file", "");
    works(syscall(SYS_utime, "file", &times), "utime");
    works(stat("file", &facts), "stat");
    want(facts.st_atime == 1000 && facts.st_mtime == 2000, "other times");
}

CHECK(sets_them_to_now) {
    struct stat facts;
    struct utimbuf times = {.actime = 1000, .modtime = 2000};
    file_with("file", "");
    works(syscall(SYS_utime, "file", &times), "utime");
    works(syscall(SYS_utime, "file", NULL), "utime");
    works(stat("file", &facts), "stat");
    want(facts.st_mtime > 1000000000, "an old time");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_utime, "nothing", NULL), ENOENT, "utime of nothing");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no utime");
}

#endif

CHECKS
