/* The guest's root: an empty tmpfs, filled step by step from the plan, then pivoted into.
 *
 * Sources are opened before anything is placed, without following any link: as root in the
 * supervisor, which may read what the guest's id may not; otherwise in the reaper. The guest-to-be
 * masks /proc meanwhile. Targets are
 * found below the new root without following links either, so that nothing a guest left in a
 * shared directory can steer a later mount.
 */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#define SYS_fsopen 430
#define SYS_fsconfig 431
#define SYS_fsmount 432
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifndef MOUNT_ATTR_IDMAP
#define MOUNT_ATTR_IDMAP 0x00100000
#endif

/* Own name: <linux/mount.h> and <sys/mount.h> of some libcs both define struct mount_attr. */
struct attributes {
    uint64_t attr_set, attr_clr, propagation, userns_fd;
};

static int mount_setattr_at(int fd, unsigned flags, const struct attributes *attributes) {
    return (int)syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | flags, attributes,
                        sizeof *attributes);
}

/* For kernels before 5.6: one component at a time. */
static int walk_without_links(const char *path) {
    int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char part[NAME_MAX + 1];
    for (const char *p = path; at >= 0 && *p;) {
        p += strspn(p, "/");
        size_t len = strcspn(p, "/");
        if (len == 0)
            break;
        if (len > NAME_MAX) {
            close(at);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(part, p, len);
        part[len] = '\0';
        int next = openat(at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        int error = errno;
        close(at);
        errno = error;
        at = next;
        p += len;
    }
    struct stat st;
    if (at >= 0 && fstat(at, &st) == 0 && S_ISLNK(st.st_mode)) {
        close(at);
        errno = ELOOP;
        return -1;
    }
    return at;
}

/* A host path, no component of which is a link. */
static int open_without_links(const char *path) {
    const struct {
        uint64_t flags, mode, resolve;
    } how = {O_PATH | O_CLOEXEC, 0, 4 /* RESOLVE_NO_SYMLINKS */};
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    return fd < 0 && errno == ENOSYS ? walk_without_links(path) : fd;
}

/* Only a caller with rights over the host's mounts can map an owner. Without, the guest has the
 * rights of anybody, which is enough to read most things and to write nothing. */
static void map_owner(const struct plan *plan, const struct step *step, int source, bool outside) {
    struct stat st;
    if (fstat(source, &st) < 0)
        die(errno, "share", "looking at %s", step->text);
    if (st.st_uid == (outside ? guest_host_uid() : plan->uid) || (!outside && !(step->number & BIND_WRITE)))
        return;
    if (!outside)
        die(EPERM, "identity", "letting the guest act as the owner of %s in that share", step->text);
    struct attributes map = {.attr_set = MOUNT_ATTR_IDMAP};
    int namespace = idmap_namespace(st.st_uid, st.st_gid);
    map.userns_fd = (uint64_t)namespace;
    bool own = plan->discard && strcmp(plan->discard, step->text) == 0;
    if (mount_setattr_at(step->fd, AT_RECURSIVE, &map) < 0 &&
        mount_setattr_at(step->fd, 0, &map) < 0 && (step->number & BIND_WRITE) &&
        !(own && give_to_guest(step->text)))
        die(errno, "identity", "letting the guest act as the owner of %s in that share", step->text);
    close(namespace);
}

static bool open_source(const struct plan *plan, struct step *step, bool outside) {
    int source = open_without_links(step->text);
    if (source < 0) {
        if (step->number & BIND_OPTIONAL)
            return true;
        die(errno, "share", "opening %s", step->text);
    }
    step->fd = (int)syscall(SYS_open_tree, source, "",
                            AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (step->fd < 0 && errno == EPERM && outside) {
        close(source);
        return false;
    }
    if (step->fd < 0)
        die(errno, "mount", "detaching %s", step->text);
    struct attributes attributes = {.propagation = MS_PRIVATE};
    if (WALL_IS_UP(plan, WALL_NOSUID))
        attributes.attr_set |= MOUNT_ATTR_NOSUID;
    if (!(step->number & BIND_DEVICE))
        attributes.attr_set |= MOUNT_ATTR_NODEV;
    if (!(step->number & BIND_WRITE) && WALL_IS_UP(plan, WALL_READONLY))
        attributes.attr_set |= MOUNT_ATTR_RDONLY;
    if (mount_setattr_at(step->fd, AT_RECURSIVE, &attributes) < 0)
        die(errno, "mount", "setting the flags of %s", step->text);
    if ((step->number & BIND_OWNER) && caller_is_root())
        map_owner(plan, step, source, outside);
    close(source);
    return true;
}

void open_sources(struct plan *plan, bool outside) {
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].kind == STEP_BIND && plan->steps[i].fd < 0 &&
            !open_source(plan, &plan->steps[i], outside))
            die(EPERM, "mount", "detaching %s", plan->steps[i].text);
}

/* The first one shows whether the others can be opened, too. */
bool can_open_sources(struct plan *plan) {
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].kind == STEP_BIND && !(plan->steps[i].number & BIND_OPTIONAL))
            return open_source(plan, &plan->steps[i], true);
    return true;
}

/* In the supervisor, while the reaper makes what needs none of them. */
void pass_sources(struct plan *plan, int ctl) {
    struct message message = {.kind = MSG_SOURCES};
    int fds[MAX_PASSED];
    open_sources(plan, true);
    for (size_t i = 0; i < plan->step_count; i++) {
        if (plan->steps[i].fd < 0)
            continue;
        fds[message.sources.count] = plan->steps[i].fd;
        message.sources.steps[message.sources.count++] = (uint16_t)i;
        if (message.sources.count == MAX_PASSED) {
            message.sources.more = true;
            channel_send(ctl, &message, fds, MAX_PASSED);
            message.sources.count = 0;
        }
    }
    message.sources.more = false;
    channel_send(ctl, &message, fds, message.sources.count);
    close_sources(plan);
}

void take_sources(struct plan *plan, int ctl) {
    struct message message;
    int fds[MAX_PASSED];
    size_t count;
    pid_t sender;
    do {
        if (!channel_receive(ctl, &message, fds, &count, &sender) || message.kind != MSG_SOURCES ||
            message.sources.count != count)
            _exit(125); /* the supervisor failed, and has said so */
        for (size_t i = 0; i < count; i++)
            plan->steps[message.sources.steps[i]].fd = fds[i];
    } while (message.sources.more);
}

void close_sources(struct plan *plan) {
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].fd >= 0) {
            close(plan->steps[i].fd);
            plan->steps[i].fd = -1;
        }
}

struct builder {
    struct plan *plan;
    int root;           /* the new root */
    int files;          /* a tmpfs that holds all private files: the new root, or mounted on it */
    dev_t device;       /* its number */
    int proc;           /* the new /proc, attached and the working directory once its step is done */
    const char *proc_path;
    int covers[2];      /* an empty file and an empty directory, mounted nowhere yet; or -1 */
    char covered[2][NAME_MAX + 1]; /* a file and a directory of /proc that are, or "" */
    struct top *tops;   /* what stands in a root that the supervisor answers; else NULL */
    size_t top_count;
    int mounts[MAX_TOPS];      /* of our own directories there */
    bool writable[MAX_TOPS];
    bool spare[MAX_TOPS + 1];  /* has a file to link places from; the last is the root's own */
};

static const char SPARE[] = ".place";

static size_t top_at(const struct builder *b, const char *path) {
    path += strspn(path, "/");
    size_t len = strcspn(path, "/");
    for (size_t i = 0; i < b->top_count; i++)
        if (strlen(b->tops[i].name) == len && memcmp(b->tops[i].name, path, len) == 0)
            return i;
    return MAX_TOPS;
}

/* It stands in the root itself, and the supervisor answers for the root. */
static bool answered_for(const struct builder *b, const char *path) {
    path += strspn(path, "/");
    return b->tops && !strchr(path, '/');
}

static bool is_ours(const struct builder *b, int dir) {
    struct stat there;
    return fstat(dir, &there) == 0 && there.st_dev == b->device;
}

/* Nothing is ever created in what is shared, only on our own tmpfs. */
static void refuse_ghosts(const struct builder *b, int dir, const char *path) {
    if (!is_ours(b, dir))
        die(EROFS, "share", "placing something at %s, which would have to be created there", path);
}

/* Where a target's parent lies below the new root, making plain directories on the way. */
static int open_parent(const struct builder *b, const char *whole, const char **name) {
    const char *path = whole;
    char part[NAME_MAX + 1];
    path += strspn(path, "/");
    size_t top = answered_for(b, path) ? MAX_TOPS : top_at(b, path);
    bool own = top < MAX_TOPS && b->mounts[top] >= 0;
    if (own) /* not through the root, which would ask the supervisor */
        path += strcspn(path, "/") + 1;
    int at = fcntl(own ? b->mounts[top] : b->root, F_DUPFD_CLOEXEC, 3);
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
    *name = path;
    return at;
}

static int filesystem(const char *type, const char *const options[][2], unsigned attributes,
                      const char *wall) {
    int fs = (int)syscall(SYS_fsopen, type, 1 /* FSOPEN_CLOEXEC */);
    if (fs < 0)
        die(errno, wall, "opening a new %s", type);
    for (; options && (*options)[0]; options++)
        if (syscall(SYS_fsconfig, fs, 1 /* SET_STRING */, (*options)[0], (*options)[1], 0) < 0)
            die(errno, wall, "setting %s=%s of %s", (*options)[0], (*options)[1], type);
    if (syscall(SYS_fsconfig, fs, 6 /* CMD_CREATE */, NULL, NULL, 0) < 0)
        die(errno, wall, "creating a new %s", type);
    int mount = (int)syscall(SYS_fsmount, fs, 1 /* FSMOUNT_CLOEXEC */, attributes);
    if (mount < 0)
        die(errno, wall, "mounting a new %s", type);
    close(fs);
    return mount;
}

static void attach(int mount, int dir, const char *name, const char *wall, const char *path) {
    if (syscall(SYS_move_mount, mount, "", dir, name, 4 /* MOVE_MOUNT_F_EMPTY_PATH */) < 0)
        die(errno, wall, "mounting at %s in the guest", path);
}

static void make_dir(const struct builder *b, const struct step *step) {
    const char *name;
    int dir = open_parent(b, step->path, &name);
    if (mkdirat(dir, name, (mode_t)step->number) < 0 && errno != EEXIST)
        die(errno, "mount", "making %s in the guest", step->path);
    close(dir);
}

static void make_file(const struct builder *b, const struct step *step) {
    const char *name;
    int dir = open_parent(b, step->path, &name);
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    (mode_t)step->number);
    if (fd < 0 || write(fd, step->text, step->text_len) != (ssize_t)step->text_len)
        die(errno, "mount", "writing %s in the guest", step->path);
    close(fd);
    close(dir);
}

static void make_symlink(const struct builder *b, const struct step *step) {
    const char *name;
    if (answered_for(b, step->path))
        return;
    int dir = open_parent(b, step->path, &name);
    if (symlinkat(step->text, dir, name) < 0)
        die(errno, "mount", "linking %s in the guest", step->path);
    close(dir);
}

/* An empty file to mount on. A link to a spare one takes a third of the time of a new one. */
static bool make_file_place(struct builder *b, int dir, const char *name, const char *path) {
    size_t top = top_at(b, path);
    int base = top < MAX_TOPS && b->mounts[top] >= 0 ? b->mounts[top] : b->root;
    bool *spare = &b->spare[base == b->root ? MAX_TOPS : top];
    if (!*spare) {
        int fd = openat(base, SPARE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        *spare = fd >= 0;
        if (fd >= 0)
            close(fd);
    }
    if (*spare && syscall(SYS_linkat, base, SPARE, dir, name, 0) == 0)
        return true;
    int made = errno == EEXIST ? -1 : openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (made >= 0)
        close(made);
    return made >= 0;
}

static void remove_spares(const struct builder *b) {
    for (size_t i = 0; i <= MAX_TOPS; i++)
        if (b->spare[i] && unlinkat(i < MAX_TOPS ? b->mounts[i] : b->root, SPARE, 0) < 0)
            die(errno, "mount", "clearing up in the guest's root");
}

/* A place to mount on, like the source: made on our own tmpfs, never in something shared. */
static void bind_source(struct builder *b, struct step *step) {
    if (step->fd < 0)
        return; /* optional, and not there */
    const char *name;
    struct stat st, there;
    int dir = open_parent(b, step->path, &name);
    if (fstat(step->fd, &st) < 0)
        die(errno, "share", "looking at %s", step->text);
    bool made = !answered_for(b, step->path) && is_ours(b, dir) && (S_ISDIR(st.st_mode) ? mkdirat(dir, name, 0755) == 0
                                                        : make_file_place(b, dir, name, step->path));
    if (!made && fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) < 0) {
        refuse_ghosts(b, dir, step->path);
        die(errno, "share", "making a place for %s at %s in the guest", step->text, step->path);
    }
    if (!made && (S_ISDIR(st.st_mode) != S_ISDIR(there.st_mode) || S_ISLNK(there.st_mode)))
        die(EEXIST, "share", "placing %s at %s: something of another kind is there", step->text,
            step->path);
    attach(step->fd, dir, name, "mount", step->path);
    close(step->fd);
    step->fd = -1;
    close(dir);
}

static int detach(int dir, const char *name, uint64_t attributes, const char *wall) {
    int tree = (int)syscall(SYS_open_tree, dir, name,
                            OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (*name ? 0 : AT_EMPTY_PATH));
    struct attributes set = {.attr_set = attributes};
    if (tree < 0 || (attributes && mount_setattr_at(tree, 0, &set) < 0))
        die(errno, wall, "binding %s of the private files", name);
    return tree;
}

/* A directory mounted on itself: its mount stays writable when the root's becomes read-only. */
static void make_private(struct builder *b, const struct step *step) {
    const char *name;
    if (answered_for(b, step->path)) { /* is mounted already */
        size_t top = top_at(b, step->path);
        b->writable[top] = true;
        if (fchmodat(b->files, b->tops[top].name, (mode_t)step->number, 0) < 0)
            die(errno, "mount", "setting the mode of %s", step->path);
        return;
    }
    int dir = open_parent(b, step->path, &name);
    if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
        die(errno, "mount", "making %s in the guest", step->path);
    if (fchmodat(dir, name, (mode_t)step->number, 0) < 0)
        die(errno, "mount", "setting the mode of %s", step->path);
    int tree = detach(dir, name, 0, "mount");
    attach(tree, dir, name, "mount", step->path);
    close(tree);
    close(dir);
}

static void write_sysctl(const struct builder *b, const struct step *step) {
    if (!WALL_IS_UP(b->plan, WALL_SYSCTL))
        return;
    int fd = b->proc < 0 ? -1 : openat(b->proc, step->path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, step->text, step->text_len) != (ssize_t)step->text_len)
        die(errno, "namespaces", "writing %s to /proc/%s", step->text, step->path);
    close(fd);
}

/* Its masks are the guest-to-be's work: fill_proc. */
static void mount_proc(struct builder *b, const struct step *step) {
    const char *name;
    int dir = open_parent(b, step->path, &name);
    if (mkdirat(b->files, name, 0755) < 0 && errno != EEXIST)
        die(errno, "proc", "making %s in the guest", step->path);
    attach(b->proc, dir, name, "proc", step->path);
    close(dir);
    if (fchdir(b->proc) < 0) /* out of the host's directories */
        die(errno, "proc", "entering %s in the guest", step->path);
}

/* A file and a directory below /proc on our own tmpfs, out of sight once the real /proc is mounted there. */
static void make_covers(struct builder *b, const char *place) {
    const char *name = strrchr(place, '/') + 1;
    int dir = mkdirat(b->files, name, 0755) < 0 ? -1 : openat(b->files, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = openat(dir, "nothing", O_WRONLY | O_CREAT | O_CLOEXEC, 0);
    if (fd < 0 || mkdirat(dir, "empty", 0) < 0)
        die(errno, "mask", "making what masks cover with");
    b->covers[0] = detach(dir, "nothing", 0, "mask");
    b->covers[1] = detach(dir, "empty", 0, "mask");
    close(fd);
    close(dir);
}

/* First of all, for the guest-to-be to go on with. */
static void prepare_proc(struct builder *b) {
    for (size_t i = 0; i < b->plan->step_count && b->proc < 0; i++)
        if (b->plan->steps[i].kind == STEP_PROC) {
            b->proc = filesystem("proc", NULL, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
                                 "proc");
            make_covers(b, b->plan->steps[i].path);
            mount_proc(b, &b->plan->steps[i]);
        }
}

static void mount_devpts(const struct builder *b, const struct step *step) {
    char max[32];
    snprintf(max, sizeof max, "%llu", (unsigned long long)step->number);
    const char *const options[][2] = {{"ptmxmode", "0666"}, {"mode", "0620"}, {"max", max}, {0}};
    const char *name;
    int dir = open_parent(b, step->path, &name);
    int pts = filesystem("devpts", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, "devpts");
    if (mkdirat(dir, name, 0755) < 0)
        die(errno, "devpts", "making %s in the guest", step->path);
    attach(pts, dir, name, "devpts", step->path);
    close(pts);
    close(dir);
}

/* POSIX message queues are files of a filesystem of the ipc namespace's. It is mounted so that
 * Landlock, which otherwise refuses every queue, can have a rule for it. Where that can't be, in a
 * kernel without queues or in an ipc namespace that is not ours, queues stay refused. */
static void mount_mqueue(const struct builder *b, const struct step *step) {
    const char *name;
    int dir = open_parent(b, step->path, &name);
    if (mkdirat(dir, name, 0755) < 0)
        die(errno, "mount", "making %s in the guest", step->path);
    unsigned attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
    int queues = -1;
    int fs = (int)syscall(SYS_fsopen, "mqueue", 1 /* FSOPEN_CLOEXEC */);
    if (fs >= 0 && syscall(SYS_fsconfig, fs, 6 /* CMD_CREATE */, NULL, NULL, 0) == 0)
        queues = (int)syscall(SYS_fsmount, fs, 1 /* FSMOUNT_CLOEXEC */, attributes);
    if (queues >= 0) {
        attach(queues, dir, name, "mount", step->path);
        close(queues);
    }
    if (fs >= 0)
        close(fs);
    close(dir);
}

/* By mount(2), in one call and by a short name: there are dozens. What is masked already serves as
 * the source for the next. */
static void cover_one(struct builder *b, const char *name, mode_t mode) {
    bool directory = S_ISDIR(mode);
    char *covered = b->covered[directory];
    if (!*covered)
        attach(b->covers[directory], b->proc, name, "mask", name);
    else if (mount(covered, name, NULL, MS_BIND, NULL) < 0)
        die(errno, "mask", "masking %s of /proc in the guest", name);
    if ((!*covered || (strchr(covered, '/') && !strchr(name, '/'))) && strlen(name) <= NAME_MAX)
        memcpy(covered, name, strlen(name) + 1);
}

static void cover(struct builder *b, const struct step *step) {
    struct stat st;
    size_t len = b->proc_path ? strlen(b->proc_path) : 0;
    if (!WALL_IS_UP(b->plan, WALL_MASK))
        return;
    if (len == 0 || strlen(step->path) <= len || memcmp(step->path, b->proc_path, len) != 0 ||
        step->path[len] != '/')
        die(EINVAL, "mask", "masking %s, which is not in /proc", step->path);
    const char *name = step->path + len + 1;
    if (fstatat(b->proc, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISLNK(st.st_mode))
        cover_one(b, name, st.st_mode); /* this kernel may not have it */
}

struct kept {
    struct builder *builder;
    const char *names; /* each followed by a space */
};

static bool is_kept(const char *names, const char *name) {
    size_t len = strlen(name);
    for (; *names; names += strcspn(names, " ") + 1)
        if (strcspn(names, " ") == len && memcmp(names, name, len) == 0)
            return true;
    return false;
}

static void cover_unless_kept(const char *name, void *context) {
    const struct kept *kept = context;
    struct builder *b = kept->builder;
    struct stat st;
    bool process = *name >= '0' && *name <= '9';
    if (process || is_kept(kept->names, name) || fstatat(b->proc, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    /* Links lead to what is there already; what only its owner may touch is closed to a guest that is
     * not its owner. */
    bool closed = (st.st_mode & 077) == 0 && st.st_uid != b->plan->uid;
    if (S_ISLNK(st.st_mode) || closed)
        return;
    cover_one(b, name, st.st_mode);
}

/* By what is kept, not by what is known to be harmful: a later kernel's new file is masked, too. */
static void cover_others(struct builder *b, const struct step *step) {
    if (!WALL_IS_UP(b->plan, WALL_MASK))
        return;
    struct kept kept = {b, step->text};
    int dir = openat(b->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        die(errno, "mask", "listing %s in the guest", step->path);
    each_entry(dir, cover_unless_kept, &kept);
    close(dir);
}

static void run_step(struct builder *b, struct step *step) {
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
    case STEP_PROC: /* prepare_proc */
    case STEP_MASK: /* fill_proc */
    case STEP_ONLY:
    case STEP_SYSCTL:
        break;
    }
}

/* In the guest-to-be. */
static void fill_proc(struct plan *plan, const int fds[3]) {
    struct builder b = {.plan = plan, .proc = fds[0], .covers = {fds[1], fds[2]}};
    struct attributes read_only = {.attr_set = MOUNT_ATTR_RDONLY};
    if (b.proc >= 0 && fchdir(b.proc) < 0) /* masks are named from here */
        die(errno, "proc", "entering /proc in the guest");
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct step *step = &plan->steps[i];
        if (step->kind == STEP_PROC)
            b.proc_path = step->path;
        else if (step->kind == STEP_MASK)
            cover(&b, step);
        else if (step->kind == STEP_ONLY)
            cover_others(&b, step);
        else if (step->kind == STEP_SYSCTL)
            write_sysctl(&b, step);
    }
    if (b.proc >= 0 && WALL_IS_UP(plan, WALL_READONLY) &&
        mount_setattr_at(b.proc, AT_RECURSIVE, &read_only) < 0) /* with its masks */
        die(errno, "proc", "making /proc read-only");
}

/* Attached over a directory of the old root, which disappears with it. Sources are open already. */
static const char *attach_somewhere(int mount) {
    static const char *const places[] = {"/tmp", "/mnt", "/usr"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (syscall(SYS_move_mount, mount, "", AT_FDCWD, places[i], 4) == 0)
            return places[i];
    die(errno, "mount", "finding a directory to build the guest's root on");
}

static int own_files(const struct plan *plan) {
    char size[32], inodes[32];
    snprintf(size, sizeof size, "%llu", (unsigned long long)plan->root_bytes);
    snprintf(inodes, sizeof inodes, "%llu", (unsigned long long)plan->root_inodes);
    const char *const options[][2] = {{"size", size}, {"nr_inodes", inodes}, {"mode", "755"}, {0}};
    return filesystem("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, "mount");
}

/* -1 where this can't be had: then misses are not seen, and that is told. */
static int answered_root(const struct plan *plan, int device) {
    char fd[16], uid[16], gid[16];
    snprintf(fd, sizeof fd, "%d", device);
    snprintf(uid, sizeof uid, "%u", plan->uid);
    snprintf(gid, sizeof gid, "%u", plan->gid);
    const char *const options[][2] = {{"source", "wardian"}, {"fd", fd}, {"rootmode", "40755"},
                                      {"user_id", uid}, {"group_id", gid}};
    int fs = (int)syscall(SYS_fsopen, "fuse", 1 /* FSOPEN_CLOEXEC */), mount = -1;
    bool set = fs >= 0;
    for (size_t i = 0; set && i < sizeof options / sizeof *options; i++)
        set = syscall(SYS_fsconfig, fs, 1 /* SET_STRING */, options[i][0], options[i][1], 0) == 0;
    if (set && syscall(SYS_fsconfig, fs, 0 /* SET_FLAG */, "allow_other", NULL, 0) == 0 &&
        syscall(SYS_fsconfig, fs, 6 /* CMD_CREATE */, NULL, NULL, 0) == 0)
        mount = (int)syscall(SYS_fsmount, fs, 1 /* FSMOUNT_CLOEXEC */,
                             MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    if (fs >= 0)
        close(fs);
    return mount;
}

/* The names in it come all at once: asked for one by one, each would be a round trip. */
static void learn_names(int root) {
    char list[4096];
    int dir = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0) {
        syscall(SYS_getdents64, dir, list, sizeof list);
        close(dir);
    }
}

/* Every program goes through one, and would ask where it leads. A link can be mounted on a link; where not,
 * it is asked for. */
static void place_link(const struct builder *b, const struct top *top) {
    int link = symlinkat(top->link, b->files, top->name) < 0
                   ? -1
                   : (int)syscall(SYS_open_tree, b->files, top->name,
                                  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
    if (link < 0)
        return;
    syscall(SYS_move_mount, link, "", b->root, top->name, 4 /* MOVE_MOUNT_F_EMPTY_PATH */);
    close(link);
}

/* Our own directories and links are mounted on it first; everything else comes in its turn. */
static void open_for_answers(struct builder *b, int device, int ctl, const char *place) {
    int root = device >= 0 && lookups_shape(b->plan) ? answered_root(b->plan, device) : -1;
    struct message message = {.kind = MSG_LOOKUPS};
    if (root >= 0)
        channel_send(ctl, &message, &device, 1);
    if (device >= 0)
        close(device); /* whoever waits for an answer must not keep the question alive: lookups.c */
    if (root < 0)
        return;
    if (syscall(SYS_move_mount, root, "", AT_FDCWD, place, 4) < 0)
        die(errno, "mount", "placing the guest's root");
    learn_names(root);
    b->tops = lookups_tops(&b->top_count);
    b->root = root;
    for (size_t i = 0; i < b->top_count; i++) {
        const struct top *top = &b->tops[i];
        b->mounts[i] = -1;
        if (top->link[0])
            place_link(b, top);
        if (!lookups_own(i))
            continue;
        if (mkdirat(b->files, top->name, 0755) < 0)
            die(errno, "mount", "making /%s in the guest", top->name);
        b->mounts[i] = detach(b->files, top->name, 0, "mount");
        attach(b->mounts[i], root, top->name, "mount", top->name);
    }
}

/* The guest-to-be fills /proc while we fill the rest. */
static void hand_proc(const struct builder *b, int guest) {
    struct message go = {.kind = MSG_GO};
    const int fds[] = {b->proc, b->covers[0], b->covers[1]};
    channel_send(guest, &go, fds, b->proc < 0 ? 0 : 3);
}

void help_with_root(struct plan *plan, int reaper) {
    struct message go;
    int fds[MAX_PASSED] = {-1, -1, -1};
    size_t count;
    pid_t sender;
    if (!channel_receive(reaper, &go, fds, &count, &sender) || go.kind != MSG_GO)
        _exit(125); /* the reaper failed, and has said so */
    fill_proc(plan, fds);
    while (count > 0)
        close(fds[--count]);
}

static void enter_root(const struct builder *b, const char *place, int guest, int ctl) {
    struct attributes read_only = {.attr_set = MOUNT_ATTR_RDONLY};
    if (WALL_IS_UP(b->plan, WALL_READONLY) && mount_setattr_at(b->root, 0, &read_only) < 0)
        die(errno, "mount", "making the guest's root read-only");
    for (size_t i = 0; i < b->top_count; i++)
        if (b->mounts[i] >= 0 && !b->writable[i] && WALL_IS_UP(b->plan, WALL_READONLY) &&
            mount_setattr_at(b->mounts[i], 0, &read_only) < 0)
            die(errno, "mount", "making /%s in the guest read-only", b->tops[i].name);
    join_network(b->plan, wait_for_turn(guest)); /* here rather than later: it can't be in the way */
    if (!WALL_IS_UP(b->plan, WALL_PIVOT)) {
        if (fchdir(b->root) < 0 || chroot(".") < 0)
            die(errno, "mount", "changing root");
        hand_streams(b->plan, guest, ctl);
        return;
    }
    if (syscall(SYS_pivot_root, place, place) < 0) /* by name: to enter it first would ask the supervisor */
        die(errno, "mount", "pivoting into the guest's root");
    hand_streams(b->plan, guest, ctl); /* it goes on in the new root while the old one is taken down */
    if (umount2("/", MNT_DETACH) < 0 || (b->proc < 0 && chdir("/") < 0)) /* it lies on the new one */
        die(errno, "mount", "leaving the host's root behind");
}

/* The supervisor measures the guest through these; sysvipc shows the opener's ipc namespace. */
static void hand_over_views(const struct builder *b, int ctl) {
    if (b->proc < 0)
        return;
    static const char *const tables[] = {"sysvipc/shm", "sysvipc/sem", "sysvipc/msg"};
    int fds[5] = {b->proc, b->files};
    size_t count = 2;
    for (size_t i = 0; i < 3; i++) {
        int fd = openat(b->proc, tables[i], O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            break; /* a kernel without System V ipc has none of them */
        fds[count++] = fd;
    }
    struct message message = {.kind = MSG_PROC};
    channel_send(ctl, &message, fds, count);
    while (count > 2)
        close(fds[--count]);
}

/* So that the supervisor can look at what is there without asking itself. */
static void hand_over_tops(const struct builder *b, int ctl) {
    int fds[MAX_TOPS];
    size_t count = 0;
    for (size_t i = 0; i < b->top_count; i++)
        if (!b->tops[i].link[0])
            fds[count++] = b->mounts[i] >= 0 ? fcntl(b->mounts[i], F_DUPFD_CLOEXEC, 3)
                                             : openat(b->root, b->tops[i].name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct message message = {.kind = MSG_TOPS};
    if (b->tops)
        channel_send(ctl, &message, fds, count);
    while (count > 0)
        close(fds[--count]);
}

void build_root(struct plan *plan, int ctl, int guest, int device) {
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        die(errno, "mount", "making the mounts private");
    struct builder builder = {.plan = plan, .files = own_files(plan), .proc = -1, .covers = {-1, -1}};
    struct stat files;
    if (fstat(builder.files, &files) < 0)
        die(errno, "mount", "looking at the private files");
    builder.device = files.st_dev;
    const char *place = attach_somewhere(builder.files);
    builder.root = builder.files;
    if (plan->sources_come)
        take_sources(plan, ctl);
    open_for_answers(&builder, device, ctl, place);
    prepare_proc(&builder);
    hand_proc(&builder, guest);
    for (size_t i = 0; i < plan->step_count; i++)
        run_step(&builder, &plan->steps[i]);
    remove_spares(&builder);
    hand_over_views(&builder, ctl);
    hand_over_tops(&builder, ctl);
    enter_root(&builder, place, guest, ctl);
    for (size_t i = 0; i < builder.top_count; i++)
        if (builder.mounts[i] >= 0)
            close(builder.mounts[i]);
    int fds[] = {builder.files, builder.proc, builder.covers[0], builder.covers[1],
                 builder.tops ? builder.root : -1};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}
