/* A confined guest's /dev/shm. C libraries make semaphores and shared memory there and nowhere else; the
 * host's own, with everybody's, is closed to the guest. So the calls that make, open to write, link and
 * remove a file there are carried out by the supervisor, in a directory of the run's own. The path is read
 * once; one name is taken out of it, and nothing in that directory is followed. */
#define _GNU_SOURCE
#include "fortify.h"
#include "own_shm.h"
#include "call.h"
#include "deputy.h"
#include "omitted_walls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
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

static int shm = -1;

void own_shm_attach(const struct plan *plan) {
    if (plan->bare.shm)
        shm = open(plan->bare.shm, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The one name below /dev/shm, or NULL. */
static const char *name_in(const char *path) {
    static const char place[] = "/dev/shm/";
    size_t len = sizeof place - 1;
    if (strnlen(path, len) != len || memcmp(path, place, len) != 0)
        return NULL;
    const char *name = path + len;
    return *name == '\0' || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ? NULL : name;
}

static int open_there(const struct subject *about, const char *name) {
    const struct watched *w = about->watched;
    uint64_t flags = w->flags < 0 ? (uint64_t)(O_CREAT | O_WRONLY | O_TRUNC) : about->call.args[w->flags];
    uint64_t mode = flags & O_CREAT ? about->call.args[w->flags < 0 ? 1 : w->flags + 1] & 0777 : 0;
    const uint64_t known = O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_NONBLOCK | O_APPEND;
    struct open_how how = {.flags = (flags & known) | O_CLOEXEC | O_NOFOLLOW, .mode = mode,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
    return (int)syscall(SYS_openat2, shm, name, &how, sizeof how);
}

static bool hand_over(int listener, const struct seccomp_notif *request, const struct subject *about, int fd) {
    uint64_t flags = about->watched->flags < 0 ? 0 : about->call.args[about->watched->flags];
    struct seccomp_notif_addfd given = {.id = request->id, .flags = SECCOMP_ADDFD_FLAG_SEND, .srcfd = (uint32_t)fd,
                                        .newfd_flags = flags & O_CLOEXEC ? O_CLOEXEC : 0};
    return ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &given) >= 0;
}

bool own_shm_answers(const struct plan *plan, int listener, const struct seccomp_notif *request, const struct subject *about, int *error, bool *given) {
    const char *name = about->has_path ? name_in(about->path) : NULL, *other = about->has_other ? name_in(about->other) : NULL;
    enum watch_kind kind = about->watched->kind;
    *error = 0;
    *given = false;
    if (shm < 0 || !name || (kind != WATCH_OPEN && kind != WATCH_REMOVE && !((kind == WATCH_LINK || kind == WATCH_MOVE) && other)))
        return false;
    if (!deputy_still_waits(listener, request->id))
        return false;
    deputy_as_guest(plan, true);
    int fd = kind == WATCH_OPEN ? open_there(about, name) : -1;
    long done = kind == WATCH_OPEN     ? fd
                : kind == WATCH_REMOVE ? unlinkat(shm, name, 0)
                : kind == WATCH_LINK   ? syscall(SYS_linkat, shm, name, shm, other, 0)
                                       : syscall(SYS_renameat2, shm, name, shm, other, 0);
    *error = done < 0 ? errno : 0;
    deputy_as_guest(plan, false);
    if (fd >= 0) {
        *given = hand_over(listener, request, about, fd);
        *error = *given ? 0 : EMFILE;
        close(fd);
    }
    return true;
}
