/* Two files of its processes that a guest may write to in /proc: the names of threads (comm), and
 * oom_score_adj, how soon the kernel may kill a process. The guest's /proc is read-only as a whole, because
 * no mount can make a process's comm writable and not its mem. So the supervisor opens these two files, and
 * the waiting call returns that descriptor.
 *
 * The guest's path is read once. The path that is opened is composed anew from numbers and one of two names,
 * below the guest's own /proc, which holds nobody else's processes but the reaper. When the guest writes, the
 * kernel decides: only names of the writer's own threads, and no score below the lowest that was inherited,
 * proc(5). */
#define _GNU_SOURCE
#include "fortify.h"
#include "own_files.h"
#include "call.h"
#include "identity.h"
#include "numbers.h"
#include "subject.h"
#include "tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SECCOMP_ADDFD_FLAG_SEND /* Linux 5.14 */
#define SECCOMP_ADDFD_FLAG_SEND (1UL << 1)
#endif

enum { REAPER = 1, STATUS_ROOM = 4096, PATH_ROOM = 64 };
static const char score_name[] = "oom_score_adj";
static int proc = -1;

void own_files_attach(int writable_proc) { proc = writable_proc; }

/* Its pid inside. A task in a pid namespace of the guest's own has more than two. */
static uint64_t inside(const char *status, const char *label) {
    const char *at = strstr(status, label);
    uint64_t number = 0;
    for (int i = 0; at && i < 2; i++)
        at = next_number(at + (i ? 0 : strlen(label)), &number);
    return at && *at == '\n' ? number : 0;
}

static const char *after(const char *at, const char *word) {
    size_t len = strlen(word);
    return at && strnlen(at, len) == len && memcmp(at, word, len) == 0 ? at + len : NULL;
}

static const char *after_number(const char *at, uint64_t *number) {
    at = at && *at >= '1' && *at <= '9' ? next_number(at, number) : NULL;
    return after(at, "/");
}

/* Which process, which thread of it or 0, and which of the two files; NULL: none of these. */
static const char *parse(const struct subject *about, uint64_t *process, uint64_t *thread) {
    char status[STATUS_ROOM];
    const char *rest = after(about->path, "/proc/"), *self = after(rest, "self/"), *own = after(rest, "thread-self/");
    if (!rest || task_read(about->call.task, "status", status, sizeof status) <= 0)
        return NULL;
    *process = inside(status, "\nNStgid:\t");
    *thread = own ? inside(status, "\nNSpid:\t") : 0;
    if (!*process || (own && !*thread))
        return NULL;
    rest = own ? own : self ? self : after_number(rest, process);
    const char *below = own ? NULL : after(rest, "task/");
    if (below)
        rest = after_number(below, thread);
    if (!rest || *process <= REAPER || *process > INT32_MAX || *thread > INT32_MAX)
        return NULL;
    return strcmp(rest, "comm") == 0 ? "comm" : strcmp(rest, score_name) == 0 ? score_name : NULL;
}

static bool set_score(int fd, int64_t score) {
    char text[16];
    int len = snprintf(text, sizeof text, "%lld", (long long)score);
    return write(fd, text, (size_t)len) == len;
}

static void set_right(bool on, struct __user_cap_data_struct data[2]) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct less[2] = {data[0], data[1]};
    less[0].effective &= ~(1U << CAP_SYS_RESOURCE);
    syscall(SYS_capset, &header, on ? data : less);
}

/* The kernel does not show the lowest score that a process may set. It is inherited, so we try once, in a
 * process of our own and without the capability to set any score. */
static bool try_to_lower(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}, {0}};
    char text[16];
    int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    uint64_t size;
    bool lowers = true;
    text[n > 0 ? n : 0] = '\0';
    if (n > 0 && next_number(text, &size) && syscall(SYS_capget, &header, data) == 0) {
        int64_t score = *text == '-' ? -(int64_t)size : (int64_t)size;
        set_right(false, data);
        lowers = set_score(fd, score - 1);
        if (lowers)
            set_score(fd, score);
        set_right(true, data);
    }
    if (fd >= 0)
        close(fd);
    return lowers;
}

static bool could_be_lowered(void) {
    static enum { UNKNOWN, NO, YES } known;
    if (known == UNKNOWN)
        known = try_to_lower() ? YES : NO;
    return known == YES;
}

static bool writes_only(const struct subject *about, uint64_t *flags) {
    const struct watched *w = about->watched;
    if (w->kind != WATCH_OPEN || w->flags < 0 || !about->has_path)
        return false;
    *flags = about->call.args[w->flags];
    uint64_t access = *flags & O_ACCMODE;
    return (access == O_WRONLY || access == O_RDWR) && !(*flags & (O_EXCL | O_PATH | O_DIRECTORY));
}

/* As root we could open what the guest itself may not: a process that is not dumpable. */
static int open_own(const char *path, uint64_t access) {
    struct open_how how = {.flags = access | O_CLOEXEC | O_NOFOLLOW,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
    struct stat st;
    int fd = (int)syscall(SYS_openat2, proc, path, &how, sizeof how);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == guest_host_uid())
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int own_file_open(const struct subject *about) {
    char path[PATH_ROOM];
    uint64_t flags, process, thread;
    if (proc < 0 || !writes_only(about, &flags))
        return -1;
    const char *name = parse(about, &process, &thread);
    if (!name || (name == score_name && could_be_lowered()))
        return -1;
    if (thread)
        snprintf(path, sizeof path, "%llu/task/%llu/%s", (unsigned long long)process, (unsigned long long)thread, name);
    else
        snprintf(path, sizeof path, "%llu/%s", (unsigned long long)process, name);
    return open_own(path, flags & O_ACCMODE);
}

bool own_file_hand_over(int listener, const struct seccomp_notif *request, int fd, const struct subject *about) {
    uint64_t flags = about->call.args[about->watched->flags];
    struct seccomp_notif_addfd given = {.id = request->id,
                                        .flags = SECCOMP_ADDFD_FLAG_SEND,
                                        .srcfd = (uint32_t)fd,
                                        .newfd_flags = flags & O_CLOEXEC ? O_CLOEXEC : 0};
    bool answered = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &given) >= 0;
    close(fd);
    return answered;
}
