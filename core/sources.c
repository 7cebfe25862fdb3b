/* Opens the shared paths on the host before anything is mounted, without following any link: as root in the
 * supervisor, which may read what the guest's id may not; otherwise in the reaper. */
#define _GNU_SOURCE
#include "fortify.h"
#include "sources.h"
#include "channel.h"
#include "fail.h"
#include "identity.h"
#include "mount_calls.h"
#include "omitted_walls.h"
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

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

/* Only a caller with rights over the host's mounts can map an owner. Without the map, the guest has the
 * rights of "other" users: enough to read most files and to write none. */
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

/* If the first can be opened, so can the others. */
bool can_open_sources(struct plan *plan) {
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].kind == STEP_BIND && !(plan->steps[i].number & BIND_OPTIONAL))
            return open_source(plan, &plan->steps[i], true);
    return true;
}

static void close_sources(struct plan *plan) {
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].fd >= 0) {
            close(plan->steps[i].fd);
            plan->steps[i].fd = -1;
        }
}

/* In the supervisor, while the reaper does the steps that need no source. */
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
            _exit(125); /* the supervisor failed, and has reported it */
        for (size_t i = 0; i < count; i++)
            plan->steps[message.sources.steps[i]].fd = fds[i];
    } while (message.sources.more);
}
