/* inotify_init1: a watcher of file changes, with flags. */
#define CAPABILITY "syscall_inotify_init1"
#include "_runner_c.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct inotify_event event[8];

/* A watcher with the event of a directory's removal. */
static int watcher_with_event(void) {
    const char *place = scratch("inotify");
    works(mkdir(place, 0700), "mkdir");
    int fd = (int)syscall(SYS_inotify_init1, IN_NONBLOCK), number = errno;
    int watch = inotify_add_watch(fd, place, IN_DELETE_SELF);
    rmdir(place);
    errno = number;
    works(fd, "inotify_init1");
    want(watch > 0, "inotify_add_watch gave %d", watch);
    return fd;
}

CHECK(makes_a_watcher_that_reports) {
    int fd = watcher_with_event();
    works(read(fd, event, sizeof event), "read");
    want(event[0].mask == IN_DELETE_SELF && event[1].mask == IN_IGNORED, "other events");
}

CHECK(can_be_waited_on_and_says_how_much_there_is) {
    struct pollfd watcher = {.fd = watcher_with_event(), .events = POLLIN};
    int bytes = 0;
    want(poll(&watcher, 1, 0) == 1, "nothing to read");
    works(ioctl(watcher.fd, FIONREAD, &bytes), "ioctl FIONREAD");
    want(bytes == 2 * sizeof *event, "%d bytes", bytes);
}

CHECK(sets_the_flags_asked_for) {
    int fd = (int)works(syscall(SYS_inotify_init1, IN_CLOEXEC | IN_NONBLOCK), "inotify_init1");
    want(fcntl(fd, F_GETFD) == FD_CLOEXEC && fcntl(fd, F_GETFL) & O_NONBLOCK, "not set");
    refuses(read(fd, event, sizeof event), EAGAIN, "read of nothing");
}

CHECK(refuses_too_little_room) {
    refuses(read(watcher_with_event(), event, sizeof *event - 1), EINVAL, "read of less than one event");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_inotify_init1, 2), EINVAL, "inotify_init1 with flag 2");
}

CHECK(refuses_more_than_may_be_open) {
    struct rlimit few = {0, 0};
    works(setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
    refuses(syscall(SYS_inotify_init1, 0), EMFILE, "inotify_init1 where none may be open");
}

CHECKS
