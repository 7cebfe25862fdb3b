/* Calls of a confined guest that the supervisor carries out itself. Landlock says nothing about modes,
 * owners, times, watches and sockets with a path; a filter sees no path; and a call that goes on after a
 * look at its memory may mean another file by then. So what such a call points at is read once, opened,
 * judged by where it lies (reach.c), and changed through that very descriptor.
 *
 * A plan names these calls (`acted`). One that is named and not known here is refused. */
#define _GNU_SOURCE
#include "fortify.h"
#include "deputy.h"
#include "connecting.h"
#include "identity.h"
#include "monotonic.h"
#include "numbers.h"
#include "omitted_walls.h"
#include "process_tree.h"
#include "reach.h"
#include "sent_signals.h"
#include "tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

enum { NO_ID = -1, IN_DONT_FOLLOW_ = 0x02000000 };

bool deputy_takes(const struct plan *plan, int number) {
    return plan->bare.confined && number >= 0 && number < MAX_SYSCALL && plan->acted[number];
}

bool deputy_still_waits(int listener, uint64_t id) { return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0; }

void deputy_as_guest(const struct plan *plan, bool on) {
    if (!plan->uid || !caller_is_root())
        return;
    uid_t unchanged = (uid_t)-1;
    if (on && (setresgid(unchanged, plan->gid, unchanged) < 0 || setresuid(unchanged, plan->uid, unchanged) < 0))
        _exit(125); /* nothing is ever done for a guest with root's rights */
    if (!on && (setresuid(unchanged, 0, unchanged) < 0 || setresgid(unchanged, 0, unchanged) < 0))
        _exit(125);
}

/* "/proc/self/fd/3" is the guest's third, not ours: C libraries name what they have open like this. */
static bool own_descriptor(const char *name, uint64_t *fd) {
    static const char *const ways[] = {"/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        size_t len = strlen(ways[i]);
        if (strnlen(name, len) == len && memcmp(name, ways[i], len) == 0) {
            const char *end = next_number(name + len, fd);
            return end && *end == '\0' && *fd <= INT_MAX;
        }
    }
    return false;
}

int deputy_open(pid_t task, int dir, const char *name, bool follow) {
    char entry[24];
    uint64_t number;
    if (name[0] == '\0') {
        errno = ENOENT;
        return -1;
    }
    if (own_descriptor(name, &number) && follow) {
        snprintf(entry, sizeof entry, "fd/%d", (int)number);
        return task_open(task, entry, O_PATH);
    }
    int start = AT_FDCWD;
    if (name[0] != '/') {
        snprintf(entry, sizeof entry, dir == AT_FDCWD ? "cwd" : "fd/%d", dir);
        start = task_open(task, entry, O_PATH | O_DIRECTORY);
        if (start < 0 && errno == ENOENT)
            errno = EBADF;
        if (start < 0)
            return -1;
    }
    int fd = openat(start, name, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
    int error = errno;
    if (start >= 0)
        close(start);
    errno = error;
    return fd;
}

static int process_of(pid_t task) {
    char status[4096];
    return task_read(task, "status", status, sizeof status) > 0 ? (int)number_after(status, "\nTgid:\t", false) : 0;
}

int deputy_descriptor(pid_t task, int fd) {
    int process = process_of(task), pidfd = process > 0 ? (int)syscall(SYS_pidfd_open, process, 0) : -1;
    int got = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
    int error = errno;
    if (pidfd >= 0)
        close(pidfd);
    errno = error;
    return got;
}

/* What a call means: a path from a directory, or a descriptor where the address is NULL. */
struct meant {
    int dir;
    uint64_t address;
    bool follow, may_be_empty;
};

static int open_meant(const struct call *call, const struct meant *meant) {
    char name[PATH_MAX], entry[24];
    if (meant->address && !task_string(call->task, meant->address, name, sizeof name)) {
        errno = EFAULT;
        return -1;
    }
    if (meant->address && (name[0] || !meant->may_be_empty))
        return deputy_open(call->task, meant->dir, name, meant->follow);
    snprintf(entry, sizeof entry, meant->dir == AT_FDCWD ? "cwd" : "fd/%d", meant->dir);
    int fd = task_open(call->task, entry, O_PATH);
    if (fd < 0 && errno == ENOENT)
        errno = EBADF;
    return fd;
}

static struct meant by_path(uint64_t dir, uint64_t address, uint64_t flags) {
    return (struct meant){(int)dir, address, !(flags & AT_SYMLINK_NOFOLLOW), flags & AT_EMPTY_PATH};
}

static struct meant by_descriptor(uint64_t fd) { return (struct meant){(int)fd, 0, true, true}; }

/* What it is to be changed to. */
struct change {
    enum { MODE, OWNER, TIMES, LENGTH } what;
    uint64_t first, second;
    bool now;
    struct timespec times[2];
};

static long change_length(const char *link, uint64_t length) {
    int fd = open(link, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    long done = fd < 0 ? -1 : syscall(SYS_ftruncate, fd, length);
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return done;
}

static long change_what(int fd, const struct change *to) {
    char link[32];
    struct stat st;
    const struct timespec *times = to->now ? NULL : to->times;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    bool is_link = fstat(fd, &st) == 0 && S_ISLNK(st.st_mode);
    switch (to->what) {
    case MODE:
        return is_link ? syscall(SYS_fchmodat2, fd, "", to->first, AT_EMPTY_PATH) : syscall(SYS_fchmodat, AT_FDCWD, link, to->first);
    case OWNER:
        return syscall(SYS_fchownat, fd, "", to->first, to->second, AT_EMPTY_PATH);
    case TIMES:
        return is_link ? syscall(SYS_utimensat, fd, "", times, AT_EMPTY_PATH) : syscall(SYS_utimensat, AT_FDCWD, link, times, 0);
    case LENGTH:
        errno = EINVAL;
        return S_ISREG(st.st_mode) ? change_length(link, to->first) : -1;
    }
    return -1;
}

static int change(int listener, const struct seccomp_notif *request, const struct call *call, struct meant meant, const struct change *to) {
    int fd = open_meant(call, &meant), error = 0;
    if (fd < 0)
        return errno;
    if (!deputy_still_waits(listener, request->id) || !reach_may_change(fd))
        error = EPERM;
    else if (change_what(fd, to) < 0)
        error = errno;
    close(fd);
    return error;
}

/* Times come in four shapes. */
static int read_times(const struct call *call, uint64_t address, struct change *to) {
    int64_t numbers[4];
    bool pairs = true;
    to->now = address == 0;
    if (to->now)
        return 0;
#ifdef SYS_utime
    pairs = call->number != SYS_utime;
#endif
    ssize_t size = (pairs ? 4 : 2) * (ssize_t)sizeof *numbers;
    if (task_bytes(call->task, address, numbers, (size_t)size) != size)
        return EFAULT;
    bool fine = call->number == SYS_utimensat;
    for (int i = 0; i < 2; i++) {
        int64_t part = pairs ? numbers[2 * i + 1] : 0;
        if (!fine && (part < 0 || part >= 1000000))
            return EINVAL;
        to->times[i] = (struct timespec){.tv_sec = pairs ? numbers[2 * i] : numbers[i], .tv_nsec = fine ? part : part * 1000};
    }
    return 0;
}

static int set_times(int listener, const struct seccomp_notif *request, const struct call *call, struct meant meant, uint64_t address) {
    struct change to = {.what = TIMES};
    int error = read_times(call, address, &to);
    return error ? error : change(listener, request, call, meant, &to);
}

/* Only what changes nothing: an ordinary user of a host can't give files away either. */
static int set_owner(const struct plan *plan, int listener, const struct seccomp_notif *request, const struct call *call, struct meant meant, uint64_t owner, uint64_t group) {
    uid_t uid = plan->uid ? plan->uid : geteuid();
    gid_t gid = plan->gid ? plan->gid : getegid();
    if (((int)owner != NO_ID && (uid_t)owner != uid) || ((int)group != NO_ID && (gid_t)group != gid))
        return EPERM;
    return change(listener, request, call, meant, &(struct change){.what = OWNER, .first = owner, .second = group});
}

static int add_watch(int listener, const struct seccomp_notif *request, const struct call *call, int64_t *value) {
    struct meant meant = {AT_FDCWD, call->args[1], !(call->args[2] & IN_DONT_FOLLOW_), false};
    char link[32];
    int fd = open_meant(call, &meant), error = EACCES;
    if (fd < 0)
        return errno;
    int events = deputy_descriptor(call->task, (int)call->args[0]);
    if (events < 0) {
        error = errno;
    } else if (deputy_still_waits(listener, request->id) && (reach_may_read(fd) || reach_may_change(fd))) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        long made = syscall(SYS_inotify_add_watch, events, link, call->args[2] & ~(uint64_t)IN_DONT_FOLLOW_);
        error = made < 0 ? errno : 0;
        *value = made;
    }
    if (events >= 0)
        close(events);
    close(fd);
    return error;
}

/* How many tasks there are is known now and then; what was granted since comes on top. */
static bool may_fork(const struct plan *plan) {
    enum { AGAIN_US = 10000 };
    static uint64_t counted, granted;
    static int64_t counted_us;
    if (!plan->process_limit)
        return true;
    if (counted + granted > plan->process_limit) {
        if (now_us() - counted_us < AGAIN_US)
            return false;
        counted = tree_tasks();
        granted = 0;
        counted_us = now_us();
    }
    if (counted > plan->process_limit)
        return false;
    granted++;
    return true;
}

static int act_on_file(const struct plan *plan, int listener, const struct seccomp_notif *r, const struct call *c) {
    const uint64_t *a = c->args;
    const uint64_t here = (uint64_t)AT_FDCWD, link = AT_SYMLINK_NOFOLLOW;
    switch (c->number) {
#ifdef SYS_chmod
    case SYS_chmod:
        return change(listener, r, c, by_path(here, a[0], 0), &(struct change){.what = MODE, .first = a[1]});
    case SYS_chown:
        return set_owner(plan, listener, r, c, by_path(here, a[0], 0), a[1], a[2]);
    case SYS_lchown:
        return set_owner(plan, listener, r, c, by_path(here, a[0], link), a[1], a[2]);
    case SYS_utime:
    case SYS_utimes:
        return set_times(listener, r, c, by_path(here, a[0], 0), a[1]);
    case SYS_futimesat:
        return set_times(listener, r, c, by_path(a[0], a[1], 0), a[2]);
#endif
    case SYS_fchmod:
        return change(listener, r, c, by_descriptor(a[0]), &(struct change){.what = MODE, .first = a[1]});
    case SYS_fchmodat:
        return change(listener, r, c, by_path(a[0], a[1], 0), &(struct change){.what = MODE, .first = a[2]});
    case SYS_fchmodat2:
        return change(listener, r, c, by_path(a[0], a[1], a[3]), &(struct change){.what = MODE, .first = a[2]});
    case SYS_fchown:
        return set_owner(plan, listener, r, c, by_descriptor(a[0]), a[1], a[2]);
    case SYS_fchownat:
        return set_owner(plan, listener, r, c, by_path(a[0], a[1], a[4]), a[2], a[3]);
    case SYS_utimensat:
        return set_times(listener, r, c, a[1] ? by_path(a[0], a[1], a[3]) : by_descriptor(a[0]), a[2]);
    case SYS_truncate:
        return change(listener, r, c, by_path(here, a[0], 0), &(struct change){.what = LENGTH, .first = a[1]});
    default:
        return EPERM;
    }
}

struct deputy_answer deputy_act(const struct plan *plan, int listener, const struct seccomp_notif *request) {
    struct call call = {.task = (pid_t)request->pid, .number = request->data.nr};
    struct deputy_answer answer = {.deed = DEED_DONE};
    memcpy(call.args, request->data.args, sizeof call.args);
    if (!WALL_IS_UP(plan, WALL_DEPUTY))
        return (struct deputy_answer){.deed = DEED_GOES_ON};
    switch (call.number) {
#ifdef SYS_fork
    case SYS_fork:
    case SYS_vfork:
#endif
    case SYS_clone:
    case SYS_clone3:
        answer.deed = may_fork(plan) ? DEED_GOES_ON : DEED_DONE;
        answer.error = EAGAIN;
        return answer;
    case SYS_connect:
        return connecting_begin(plan, listener, request, &call);
    case SYS_kill:
    case SYS_tkill:
    case SYS_tgkill:
        return sent_signal(listener, request, &call);
    default:
        break;
    }
    deputy_as_guest(plan, true);
    if (call.number == SYS_inotify_add_watch) {
        deputy_as_guest(plan, false); /* for its descriptor */
        answer.error = add_watch(listener, request, &call, &answer.value);
    } else {
        answer.error = act_on_file(plan, listener, request, &call);
        deputy_as_guest(plan, false);
    }
    return answer;
}
