/* inotify_init: a watcher of file changes. */
#define CAPABILITY "syscall_inotify_init"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_inotify_init
CHECK(makes_a_watcher_that_reports) {
    struct inotify_event event[8] = {0};
    const char *place = scratch("inotify");
    works(mkdir(place, 0700), "mkdir");
    int fd = (int)works(syscall(SYS_inotify_init), "inotify_init");
    int watch = inotify_add_watch(fd, place, IN_DELETE_SELF), number = errno;
    rmdir(place);
    errno = number;
    works(watch, "inotify_add_watch");
    works(read(fd, event, sizeof event), "read");
    want(event[0].wd == watch && event[0].mask == IN_DELETE_SELF, "another event");
}

CHECK(has_no_flags) {
    int fd = (int)works(syscall(SYS_inotify_init), "inotify_init");
    want(fcntl(fd, F_GETFD) == 0 && (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0, "it has some");
}

CHECK(refuses_more_than_may_be_open) {
    struct rlimit few = {0, 0};
    works(setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
    refuses(syscall(SYS_inotify_init), EMFILE, "inotify_init where none may be open");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no inotify_init");
}
#endif

CHECKS
