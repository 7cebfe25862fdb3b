/* Mounts paths of the host where a program that runs as an unprivileged id can reach them: in a mount
 * namespace that ends with that program, and only if the caller is root. */
#define _GNU_SOURCE
#include "fortify.h"
#include "staged_shares.h"
#include "fail.h"
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int mount_on(const char *source, const char *target, const char *type, unsigned long flags, const char *data) {
    return (int)syscall(SYS_mount, source, target, type, flags, data);
}

static void make_place(const char *at, bool directory) {
    int fd = directory ? mkdirat(AT_FDCWD, at, 0755) : (int)syscall(SYS_openat, AT_FDCWD, at, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0)
        die(errno, "share", "making a place for a share at %s", at);
    if (!directory)
        close(fd);
}

/* Mounts the opened file, whatever its path leads to by then. */
static void bring(const struct staged *staged, const char *at) {
    char link[48];
    struct stat st;
    int fd = open(staged->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        die(errno, "share", "opening %s", staged->path);
    if ((uint64_t)st.st_dev != staged->device || (uint64_t)st.st_ino != staged->inode)
        die(ESTALE, "share", "opening %s", staged->path);
    make_place(at, S_ISDIR(st.st_mode));
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (mount_on(link, at, NULL, MS_BIND | MS_REC, NULL) < 0)
        die(errno, "share", "mounting %s", staged->path);
    close(fd);
}

void stage_sources(const struct plan *plan) {
    const struct bare *bare = &plan->bare;
    if (!bare->staged_count)
        return;
    if (syscall(SYS_unshare, CLONE_NEWNS) < 0 || mount_on("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount_on("tmpfs", bare->stage, "tmpfs", 0, "mode=755,size=1m") < 0)
        die(errno, "namespaces", "making a place for shares at %s", bare->stage);
    for (size_t i = 0; i < bare->staged_count; i++) {
        char at[PATH_MAX];
        snprintf(at, sizeof at, "%s/%u", bare->stage, (unsigned)i);
        bring(&bare->staged[i], at);
    }
}
