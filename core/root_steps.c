/* The steps that fill the guest's root, by kind. Targets are resolved below the new root without following
 * links, so that no link that a guest left in a shared directory can steer a later mount. */
#define _GNU_SOURCE
#include "fortify.h"
#include "root_steps.h"
#include "channel.h"
#include "copies.h"
#include "fail.h"
#include "fuse_mount.h"
#include "mount_calls.h"
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char SPARE[] = ".place";

/* Where a path starts below the new root, and the rest of it from there on. */
static int base_of(const struct builder *b, const char *path, const char **rest) {
    *rest = path + strspn(path, "/");
    int own = fuse_mount_start(rest);
    return own >= 0 ? own : b->root;
}

static bool is_ours(const struct builder *b, int dir) {
    struct stat there;
    return fstat(dir, &there) == 0 && there.st_dev == b->device;
}

/* Creates only on our own tmpfs, never in a share. */
static void refuse_ghosts(const struct builder *b, int dir, const char *path) {
    if (!is_ours(b, dir))
        die(EROFS, "share", "placing something at %s, which would have to be created there", path);
}

static int open_parent(const struct builder *b, const char *whole) {
    const char *path;
    char part[NAME_MAX + 1];
    int at = fcntl(base_of(b, whole, &path), F_DUPFD_CLOEXEC, 3);
    for (;;) {
        size_t len = strcspn(path, "/");
        const char *rest = path + len + strspn(path + len, "/");
        if (*rest == '\0' || at < 0)
            break;
        if (len > NAME_MAX)
            die(ENAMETOOLONG, "mount", "finding /%s in the guest", path);
        memcpy(part, path, len);
        part[len] = '\0';
        int next = openat(at, part, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
        if (next < 0 && errno == ENOENT) {
            refuse_ghosts(b, at, whole);
            if (mkdirat(at, part, 0755) < 0)
                die(errno, "mount", "making the directory %s in the guest", part);
            next = openat(at, part, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
        }
        if (next < 0)
            die(errno, "mount", "making the directory %s in the guest", part);
        close(at);
        at = next;
        path = rest;
    }
    if (at < 0)
        die(errno, "mount", "finding %s in the guest", path);
    return at;
}

static void forget_parent(struct builder *b) {
    if (b->parent.fd >= 0)
        close(b->parent.fd);
    b->parent.fd = -1;
    b->parent.len = 0;
}

int parent_of(struct builder *b, const char *whole, const char **name) {
    const char *slash = strrchr(whole, '/');
    size_t len = slash ? (size_t)(slash - whole) + 1 : 0;
    *name = whole + len;
    if (len == 0 || **name == '\0')
        die(EINVAL, "mount", "finding the directory of %s in the guest", whole);
    if (b->parent.len == len && memcmp(b->parent.path, whole, len) == 0)
        return b->parent.fd;
    forget_parent(b);
    b->parent.fd = open_parent(b, whole);
    b->parent.ours = !fuse_mount_holds(whole) && is_ours(b, b->parent.fd); /* a lookup in that root would ask the supervisor */
    if (len <= sizeof b->parent.path) {
        memcpy(b->parent.path, whole, len);
        b->parent.len = len;
    }
    return b->parent.fd;
}

/* Something was mounted at `path`: cached directories below it are stale. */
static void mounted_at(struct builder *b, const char *path) {
    size_t len = strlen(path);
    if (b->parent.len > len && memcmp(b->parent.path, path, len) == 0 && b->parent.path[len] == '/')
        forget_parent(b);
}

static void make_dir(struct builder *b, const struct step *step) {
    const char *name;
    int dir = parent_of(b, step->path, &name);
    if (mkdirat(dir, name, (mode_t)step->number) < 0 && errno != EEXIST)
        die(errno, "mount", "making %s in the guest", step->path);
}

static void make_file(struct builder *b, const struct step *step) {
    const char *name;
    int dir = parent_of(b, step->path, &name);
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    (mode_t)step->number);
    if (fd < 0 || write(fd, step->text, step->text_len) != (ssize_t)step->text_len)
        die(errno, "mount", "writing %s in the guest", step->path);
    close(fd);
}

static void make_symlink(struct builder *b, const struct step *step) {
    const char *name;
    int dir = parent_of(b, step->path, &name);
    if (symlinkat(step->text, dir, name) < 0)
        die(errno, "mount", "linking %s in the guest", step->path);
}

static bool has_spare(struct builder *b, int base) {
    for (size_t i = 0; i < b->spare_count; i++)
        if (b->spares[i] == base)
            return true;
    if (b->spare_count == sizeof b->spares / sizeof *b->spares)
        return false;
    int fd = openat(base, SPARE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return false;
    close(fd);
    b->spares[b->spare_count++] = base;
    return true;
}

/* An empty file to mount on. A link to a spare one takes a third of the time of a new one. */
static bool make_file_place(struct builder *b, int dir, const char *name, const char *path) {
    int base = base_of(b, path, &path);
    if (has_spare(b, base) && syscall(SYS_linkat, base, SPARE, dir, name, 0) == 0)
        return true;
    int made = errno == EEXIST ? -1 : openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (made >= 0)
        close(made);
    return made >= 0;
}

void remove_spares(const struct builder *b) {
    for (size_t i = 0; i < b->spare_count; i++)
        if (unlinkat(b->spares[i], SPARE, 0) < 0)
            die(errno, "mount", "clearing up in the guest's root");
}

/* A mount point of the same kind as the source: created on our own tmpfs, never in a share. */
static void bind_source(struct builder *b, struct step *step) {
    if (step->fd < 0)
        return; /* optional, and not there */
    const char *name;
    struct stat st, there;
    int dir = parent_of(b, step->path, &name);
    if (fstat(step->fd, &st) < 0)
        die(errno, "share", "looking at %s", step->text);
    bool made = b->parent.ours &&
                (S_ISDIR(st.st_mode) ? mkdirat(dir, name, 0755) == 0 : make_file_place(b, dir, name, step->path));
    if (!made && fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) < 0) {
        refuse_ghosts(b, dir, step->path);
        die(errno, "share", "making a place for %s at %s in the guest", step->text, step->path);
    }
    if (!made && (S_ISDIR(st.st_mode) != S_ISDIR(there.st_mode) || S_ISLNK(there.st_mode)))
        die(EEXIST, "share", "placing %s at %s: something of another kind is there", step->text,
            step->path);
    mount_attach(step->fd, dir, name, "mount", step->path);
    if ((step->number & BIND_COPY) && !copies_cover(b, step, dir, name))
        channel_send(b->ctl, &(struct message){.kind = MSG_NOT_COPIED}, NULL, 0);
    mounted_at(b, step->path);
    close(step->fd); /* close early: the caller may have a low limit of open files */
    step->fd = -1;
}

/* A directory mounted on itself: its mount stays writable when the root becomes read-only. */
static void make_private(struct builder *b, const struct step *step) {
    const char *name;
    int dir = parent_of(b, step->path, &name);
    if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
        die(errno, "mount", "making %s in the guest", step->path);
    if (fchmodat(dir, name, (mode_t)step->number, 0) < 0)
        die(errno, "mount", "setting the mode of %s", step->path);
    int tree = mount_detach(dir, name, "mount");
    mount_attach(tree, dir, name, "mount", step->path);
    mounted_at(b, step->path);
    close(tree);
}

static void mount_devpts(struct builder *b, const struct step *step) {
    char max[32];
    snprintf(max, sizeof max, "%llu", (unsigned long long)step->number);
    const char *const options[][2] = {{"ptmxmode", "0666"}, {"mode", "0620"}, {"max", max}, {0}};
    const char *name;
    int dir = parent_of(b, step->path, &name);
    int pts = mount_new("devpts", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, "devpts");
    if (mkdirat(dir, name, 0755) < 0)
        die(errno, "devpts", "making %s in the guest", step->path);
    mount_attach(pts, dir, name, "devpts", step->path);
    mounted_at(b, step->path);
    close(pts);
}

/* POSIX message queues are files of a filesystem of the ipc namespace. It is mounted so that Landlock, which
 * otherwise refuses every queue, can have a rule for it. Where it can't be mounted (a kernel without queues,
 * an ipc namespace that is not ours), queues stay refused. */
static void mount_mqueue(struct builder *b, const struct step *step) {
    const char *name;
    int dir = parent_of(b, step->path, &name);
    if (mkdirat(dir, name, 0755) < 0)
        die(errno, "mount", "making %s in the guest", step->path);
    unsigned attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
    int queues = -1;
    int fs = (int)syscall(SYS_fsopen, "mqueue", 1 /* FSOPEN_CLOEXEC */);
    if (fs >= 0 && syscall(SYS_fsconfig, fs, 6 /* CMD_CREATE */, NULL, NULL, 0) == 0)
        queues = (int)syscall(SYS_fsmount, fs, 1 /* FSMOUNT_CLOEXEC */, attributes);
    if (queues >= 0) {
        mount_attach(queues, dir, name, "mount", step->path);
        mounted_at(b, step->path);
        close(queues);
    }
    if (fs >= 0)
        close(fs);
}

void run_step(struct builder *b, struct step *step) {
    if (fuse_mount_takes(step))
        return;
    switch (step->kind) {
    case STEP_DIR:
        make_dir(b, step);
        break;
    case STEP_FILE:
        make_file(b, step);
        break;
    case STEP_SYMLINK:
        make_symlink(b, step);
        break;
    case STEP_BIND:
        bind_source(b, step);
        break;
    case STEP_PRIVATE:
        make_private(b, step);
        break;
    case STEP_DEVPTS:
        mount_devpts(b, step);
        break;
    case STEP_MQUEUE:
        mount_mqueue(b, step);
        break;
    case STEP_PROC: /* guest_proc.c handles these */
    case STEP_MASK:
    case STEP_ONLY:
    case STEP_SYSCTL:
        break;
    }
}
