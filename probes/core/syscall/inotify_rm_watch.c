/* inotify_rm_watch: a watch that ends, and says so. */
#define CAPABILITY "syscall_inotify_rm_watch"
#include "_runner_c.h"

#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct inotify_event event[8];

CHECK(ends_a_watch_and_says_so) {
    int fd = (int)works(inotify_init1(IN_NONBLOCK), "inotify_init1");
    int watch = (int)works(inotify_add_watch(fd, "/", IN_DELETE_SELF), "watch");
    works(syscall(SYS_inotify_rm_watch, fd, watch), "inotify_rm_watch");
    works(read(fd, event, sizeof event), "read");
    want(event[0].wd == watch && event[0].mask == IN_IGNORED, "another event");
}

CHECK(reports_nothing_afterwards) {
    const char *place = scratch("inotify");
    works(mkdir(place, 0700), "mkdir");
    int fd = inotify_init1(IN_NONBLOCK), watch = inotify_add_watch(fd, place, IN_ATTRIB);
    long removed = syscall(SYS_inotify_rm_watch, fd, watch);
    ssize_t first = read(fd, event, sizeof event);
    chmod(place, 0750);
    ssize_t second = read(fd, event, sizeof event);
    rmdir(place);
    want(removed == 0 && first == sizeof *event && second == -1, "second read: %zd bytes", second);
}

CHECK(refuses_a_watch_that_is_none) {
    int fd = (int)works(inotify_init1(0), "inotify_init1");
    refuses(syscall(SYS_inotify_rm_watch, fd, 1), EINVAL, "a watch never made");
}

CHECK(refuses_a_watch_twice) {
    int fd = (int)works(inotify_init1(0), "inotify_init1");
    int watch = (int)works(inotify_add_watch(fd, "/", IN_ATTRIB), "inotify_add_watch");
    works(syscall(SYS_inotify_rm_watch, fd, watch), "inotify_rm_watch");
    refuses(syscall(SYS_inotify_rm_watch, fd, watch), EINVAL, "again");
}

CHECK(refuses_what_is_no_watcher) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_inotify_rm_watch, -1, 1), EBADF, "-1");
    refuses(syscall(SYS_inotify_rm_watch, ends[0], 1), EINVAL, "a pipe");
}

CHECKS
