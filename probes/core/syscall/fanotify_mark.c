/* fanotify_mark: a directory that is watched; asked of a watcher, and of none. */
#define CAPABILITY "syscall_fanotify_mark"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/fanotify.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(refuses_what_is_no_watcher) {
    refuses(syscall(SYS_fanotify_mark, -1, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, "/"), EBADF, "-1");
}

CHECK(reports_a_new_file) {
    char event[512];
    unsigned flags = FAN_CLASS_NOTIF | FAN_REPORT_DFID_NAME | FAN_NONBLOCK;
    int fd = (int)works(syscall(SYS_fanotify_init, flags, O_RDONLY), "fanotify_init");
    own_directory();
    unsigned long events = FAN_CREATE;
    long marked = syscall(SYS_fanotify_mark, fd, FAN_MARK_ADD, events, AT_FDCWD, ".");
    if (marked < 0 && errno == EOPNOTSUPP)
        unavailable("the temporary directory's file system has no handles");
    works(marked, "fanotify_mark");
    close(file_with("new", ""));
    works(read(fd, event, sizeof event), "read");
    want(((struct fanotify_event_metadata *)(void *)event)->mask == FAN_CREATE, "another event");
}

CHECKS
