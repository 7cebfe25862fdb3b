/* A FUSE file system for the guest's root, fuse(4): it reports lookups of missing names; existing paths are
 * mounted over it and cost nothing. Every lookup of a missing name comes here; so does the way into
 * directories of our own, such as /etc and /tmp, which hold some of what a host has, but not all. Into /usr,
 * shares and /proc the kernel goes without asking.
 *
 * It is a view and no wall: the mount is read-only, and nothing lies behind any answer given here. */
#define _GNU_SOURCE
#include "fortify.h"
#include "fuse_root.h"
#include "channel.h"
#include "fail.h"
#include "lookups.h"
#include "monotonic.h"
#include "plan.h"
#include "root_view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fuse.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_NODE = 2, ROOT = FUSE_ROOT_ID, REQUEST_ROOM = FUSE_MIN_READ_BUFFER };

/* The kernel asks each time it enters one of our directories, until it has asked so often that asking a tenth
 * of the time is enough. While the root is built it need not ask, if its cache can be invalidated afterwards
 * (Linux 6.2). A short timeout instead would not do: the kernel counts it in jiffies, and a program may end
 * within one. */
enum { ALWAYS_UP_TO = 4000, LONGER_UP_TO = 20000, SHARE_OF_TIME = 10 };
enum { LONG_S = 1 << 20, INIT_EXTENDED = 1 << 30, CAN_EXPIRE = 1 << 3, EXPIRE_ONLY = 1 };

/* Written by the reaper while it builds the root, read by the supervisor. */
static struct {
    size_t count;
    struct top tops[MAX_TOPS];
    bool watched[MAX_TOPS]; /* a directory of our own: lookups in it come here */
    mode_t modes[MAX_TOPS];
    bool holds, built; /* answers stay valid until the root is built */
} *shape;

static int device = -1;
static bool running;
static uint32_t asked[MAX_TOPS]; /* how often, of each */
static const struct plan *the_plan;

void fuse_root_prepare(const struct plan *plan) {
    the_plan = plan;
    if (!plan->lookups)
        return;
    shape = mmap(NULL, sizeof *shape, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shape == MAP_FAILED)
        shape = NULL;
}

/* In the reaper: the entries of the root, derived from the steps that build it. */

static size_t top_of(const char *path, size_t len) {
    for (size_t i = 0; i < shape->count; i++)
        if (strlen(shape->tops[i].name) == len && memcmp(shape->tops[i].name, path, len) == 0)
            return i;
    return MAX_TOPS;
}

static bool add_top(const struct step *step) {
    const char *path = step->path + strspn(step->path, "/");
    size_t len = strcspn(path, "/");
    bool whole = path[len] == '\0';
    if (step->kind == STEP_SYSCTL || len == 0)
        return true;
    if (step->kind == STEP_BIND && step->fd < 0)
        return true; /* optional, and not there */
    size_t i = top_of(path, len);
    if (i == MAX_TOPS) {
        i = shape->count;
        if (i == MAX_TOPS || len >= sizeof shape->tops[i].name)
            return false;
        memcpy(shape->tops[i].name, path, len);
        shape->tops[i].name[len] = '\0';
        shape->tops[i].fd = -1;
        shape->watched[i] = true;
        shape->modes[i] = S_IFDIR | 0755;
        shape->count++;
    }
    if (whole && step->kind == STEP_SYMLINK) {
        if (step->text_len >= sizeof shape->tops[i].link)
            return false;
        memcpy(shape->tops[i].link, step->text, step->text_len);
        shape->modes[i] = S_IFLNK | 0777;
        shape->watched[i] = false;
    } else if (whole && (step->kind == STEP_BIND || step->kind == STEP_PROC)) {
        struct stat st;
        shape->watched[i] = false;
        if (step->kind == STEP_BIND && fstat(step->fd, &st) == 0 && !S_ISDIR(st.st_mode))
            shape->modes[i] = S_IFREG;
    }
    return true;
}

bool fuse_root_shape(const struct plan *plan) {
    if (!shape)
        return false;
    for (size_t i = 0; i < plan->step_count; i++)
        if (!add_top(&plan->steps[i]))
            return false;
    return true;
}

struct top *fuse_root_tops(size_t *count) {
    *count = shape->count;
    return shape->tops;
}

bool fuse_root_own(size_t top) { return shape->watched[top]; }

/* In the supervisor, when the guest-to-be has finished its work in the root: from here on every lookup is
 * asked. The directories are mounted on, and only their names expire; invalidated, they would be unmounted.
 * Only the supervisor holds the device: a request that was read and not answered can't be interrupted, and
 * ends only with the last holder, who must not be the process that waits. */
static void expire(void) {
    struct {
        struct fuse_out_header header;
        uint64_t parent;
        uint32_t name_len, flags;
        char name[sizeof shape->tops[0].name];
    } notice;
    if (!shape || device < 0)
        return;
    shape->built = true;
    for (size_t i = 0; shape->holds && i < shape->count; i++) {
        if (!shape->watched[i])
            continue;
        size_t len = strlen(shape->tops[i].name);
        size_t size = offsetof(__typeof__(notice), name) + len + 1;
        notice.header = (struct fuse_out_header){(uint32_t)size, FUSE_NOTIFY_INVAL_ENTRY, 0};
        notice.parent = ROOT;
        notice.name_len = (uint32_t)len;
        notice.flags = EXPIRE_ONLY;
        memcpy(notice.name, shape->tops[i].name, len + 1);
        if (write(device, &notice, size) < 0 && errno != ENOENT && errno != ENOTCONN)
            die(errno, "mount", "watching /%s in the guest", shape->tops[i].name);
    }
}

/* In the supervisor: answering. */

static void see(const int *fds, size_t count) {
    size_t next = 0;
    for (size_t i = 0; i < shape->count; i++) {
        struct top top = shape->tops[i];
        top.fd = top.link[0] || next == count ? -1 : fds[next++];
        root_view_top(&top);
    }
}

static void serve(int fd) {
    device = fd;
    fcntl(fd, F_SETFL, O_NONBLOCK);
}

void fuse_root_hear(enum message_kind kind, const int *fds, size_t count) {
    if (kind == MSG_FUSE_DEVICE && count == 1)
        serve(fds[0]);
    else if (kind == MSG_FUSE_TOPS)
        see(fds, count);
    else if (kind == MSG_FUSE_BUILT)
        expire();
}

int fuse_root_fd(void) { return device; }

void fuse_root_anew(void) { memset(asked, 0, sizeof asked); }

void fuse_root_run(void) { running = true; }

static void answer(uint64_t unique, int error, const void *payload, size_t len) {
    static union {
        struct fuse_out_header header;
        char room[8192];
    } out;
    if (sizeof out.header + len > sizeof out)
        return;
    out.header = (struct fuse_out_header){(uint32_t)(sizeof out.header + len), -error, unique};
    memcpy(out.room + sizeof out.header, payload, len);
    if (write(device, &out, sizeof out.header + len) < 0)
        return; /* the process that asked is gone */
}

static void fill_attr(struct fuse_attr *attr, uint64_t node) {
    *attr = (struct fuse_attr){.ino = node, .mode = S_IFDIR | 0755, .nlink = 1, .blksize = 4096};
    if (node >= FIRST_NODE && node - FIRST_NODE < shape->count) {
        size_t i = (size_t)(node - FIRST_NODE);
        attr->mode = shape->modes[i];
        attr->size = strlen(shape->tops[i].link);
    }
}

static void fill_entry(struct fuse_entry_out *entry, size_t i, uint64_t valid_ns) {
    *entry = (struct fuse_entry_out){.nodeid = FIRST_NODE + i, .attr_valid = LONG_S};
    if (!shape->watched[i] || (shape->holds && !shape->built))
        entry->entry_valid = LONG_S;
    else
        entry->entry_valid_nsec = (uint32_t)valid_ns;
    fill_attr(&entry->attr, FIRST_NODE + i);
}

/* In directories that hold secrets, a flood of lookups is sampled only after more of them. */
static uint32_t always_up_to(const char *name) {
    return strcmp(name, "home") == 0 || strcmp(name, "etc") == 0 ? LONGER_UP_TO : ALWAYS_UP_TO;
}

static void on_lookup(const struct fuse_in_header *in, const char *name) {
    size_t i = in->nodeid == ROOT ? top_of(name, strlen(name)) : MAX_TOPS;
    if (i == MAX_TOPS) {
        if (running)
            lookup_judge(the_plan, (pid_t)in->pid);
        answer(in->unique, ENOENT, "", 0);
        return;
    }
    bool rests = ++asked[i] > always_up_to(name);
    int64_t began = rests ? now_us() : 0;
    if (running && shape->watched[i])
        lookup_judge(the_plan, (pid_t)in->pid);
    struct fuse_entry_out entry;
    uint64_t rest_ns = 0;
    if (rests)
        rest_ns = (uint64_t)(now_us() - began + 30) * 1000 * SHARE_OF_TIME;
    fill_entry(&entry, i, rest_ns > 999999999 ? 999999999 : rest_ns);
    answer(in->unique, 0, &entry, sizeof entry);
}

static void on_readdir(const struct fuse_in_header *in, const struct fuse_read_in *read, bool plus) {
    static char list[6144];
    size_t used = 0;
    for (size_t i = (size_t)read->offset; in->nodeid == ROOT && i < shape->count; i++) {
        struct fuse_entry_out entry;
        struct fuse_dirent dirent = {.ino = FIRST_NODE + i,
                                     .off = i + 1,
                                     .namelen = (uint32_t)strlen(shape->tops[i].name),
                                     .type = shape->modes[i] >> 12};
        size_t head = plus ? sizeof entry : 0, size = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + dirent.namelen);
        if (used + head + size > sizeof list || used + head + size > read->size)
            break;
        if (plus) {
            fill_entry(&entry, i, 0);
            memcpy(list + used, &entry, sizeof entry);
        }
        memset(list + used + head, 0, size);
        memcpy(list + used + head, &dirent, FUSE_NAME_OFFSET);
        memcpy(list + used + head + FUSE_NAME_OFFSET, shape->tops[i].name, dirent.namelen);
        used += head + size;
    }
    answer(in->unique, 0, list, used);
}

static void on_init(const struct fuse_in_header *in, const struct fuse_init_in *init) {
    const uint32_t *flags = &init->flags; /* and later requests, which older headers do not name */
    if (in->len >= sizeof *in + 5 * sizeof *flags && (flags[0] & INIT_EXTENDED))
        shape->holds = flags[1] & CAN_EXPIRE;
    struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
                                .minor = init->minor < FUSE_KERNEL_MINOR_VERSION ? init->minor : FUSE_KERNEL_MINOR_VERSION,
                                .max_readahead = 0,
                                .flags = init->flags & (FUSE_DO_READDIRPLUS | FUSE_CACHE_SYMLINKS | FUSE_NO_OPENDIR_SUPPORT),
                                .max_write = 4096,
                                .time_gran = 1};
    answer(in->unique, 0, &out, sizeof out);
}

void fuse_root_answer(void) {
    static union {
        struct fuse_in_header header;
        char room[REQUEST_ROOM + 1];
    } in;
    ssize_t n = read(device, &in, REQUEST_ROOM);
    if (n < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOENT))
        return;
    if (n < (ssize_t)sizeof in.header) {
        close(device); /* unmounted: the run is over */
        device = -1;
        return;
    }
    in.room[n] = '\0';
    const void *body = in.room + sizeof in.header;
    struct fuse_attr_out attr = {.attr_valid = LONG_S};
    struct fuse_statfs_out none = {0};
    switch (in.header.opcode) {
    case FUSE_INIT:
        on_init(&in.header, body);
        break;
    case FUSE_LOOKUP:
        on_lookup(&in.header, body);
        break;
    case FUSE_GETATTR:
        fill_attr(&attr.attr, in.header.nodeid);
        answer(in.header.unique, 0, &attr, sizeof attr);
        break;
    case FUSE_READLINK: {
        size_t i = (size_t)in.header.nodeid - FIRST_NODE;
        const char *link = in.header.nodeid >= FIRST_NODE && i < shape->count ? shape->tops[i].link : "";
        answer(in.header.unique, *link ? 0 : EINVAL, link, strlen(link));
        break;
    }
    case FUSE_READDIR:
    case FUSE_READDIRPLUS:
        on_readdir(&in.header, body, in.header.opcode == FUSE_READDIRPLUS);
        break;
    case FUSE_STATFS:
        answer(in.header.unique, 0, &none, sizeof none);
        break;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        break;
    default:
        answer(in.header.unique, ENOSYS, "", 0);
    }
}
