/* The guest's /proc: mounted by the reaper, masked and made read-only by the guest-to-be meanwhile. */
#define _GNU_SOURCE
#include "fortify.h"
#include "guest_proc.h"
#include "channel.h"
#include "directory.h"
#include "fail.h"
#include "mount_calls.h"
#include "omitted_walls.h"
#include "plan.h"
#include "root_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COVER_FILE, COVER_DIRECTORY };

/* A file and a directory below /proc on our own tmpfs, masked once the real /proc is mounted there. */
static void make_covers(struct builder *b, const char *name, int covers[2]) {
    int dir = mkdirat(b->files, name, 0755) < 0 ? -1 : openat(b->files, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = openat(dir, "nothing", O_WRONLY | O_CREAT | O_CLOEXEC, 0);
    if (fd < 0 || mkdirat(dir, "empty", 0) < 0)
        die(errno, "mask", "making what masks cover with");
    covers[COVER_FILE] = mount_detach(dir, "nothing", "mask");
    covers[COVER_DIRECTORY] = mount_detach(dir, "empty", "mask");
    close(fd);
    b->hidden = dir;
}

static void mount_at(struct builder *b, const char *path, int covers[2]) {
    const char *name;
    b->proc = mount_new("proc", NULL, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, "proc");
    make_covers(b, strrchr(path, '/') + 1, covers);
    int dir = parent_of(b, path, &name);
    mount_attach(b->proc, dir, name, "proc", path);
    /* The guest's own view is mounted over it, and becomes read-only. */
    b->writable_proc = b->proc;
    b->proc = mount_detach(b->writable_proc, ".", "proc");
    mount_attach(b->proc, b->writable_proc, ".", "proc", path);
    if (fchdir(b->proc) < 0) /* out of the host's directories */
        die(errno, "proc", "entering %s in the guest", path);
}

/* Sent first, so that the guest-to-be can go on. */
void mount_proc(struct builder *b, int guest) {
    struct message go = {.kind = MSG_GO};
    int covers[2] = {-1, -1};
    for (size_t i = 0; i < b->plan->step_count && b->proc < 0; i++)
        if (b->plan->steps[i].kind == STEP_PROC)
            mount_at(b, b->plan->steps[i].path, covers);
    const int fds[] = {b->proc, covers[COVER_FILE], covers[COVER_DIRECTORY]};
    channel_send(guest, &go, fds, b->proc < 0 ? 0 : 3);
    for (int i = 0; i < 2; i++)
        if (covers[i] >= 0)
            close(covers[i]);
}

/* In the guest-to-be. */

struct filling {
    const struct plan *plan;
    const char *path; /* of /proc */
    int proc;         /* which is the working directory; or -1: a step that needs one fails */
    int covers[2];    /* an empty file and an empty directory, not mounted yet */
    char covered[2][NAME_MAX + 1]; /* a file and a directory of /proc that are masked already, or "" */
};

/* By mount(2), in one call and by a short name: there are dozens. An entry that is masked already is the
 * source for the next. */
static void cover_one(struct filling *f, const char *name, mode_t mode) {
    bool directory = S_ISDIR(mode);
    char *covered = f->covered[directory];
    if (!*covered)
        mount_attach(f->covers[directory], f->proc, name, "mask", name);
    else if (mount(covered, name, NULL, MS_BIND, NULL) < 0)
        die(errno, "mask", "masking %s of /proc in the guest", name);
    if ((!*covered || (strchr(covered, '/') && !strchr(name, '/'))) && strlen(name) <= NAME_MAX)
        memcpy(covered, name, strlen(name) + 1);
}

static void cover(struct filling *f, const struct step *step) {
    struct stat st;
    size_t len = f->path ? strlen(f->path) : 0;
    if (!WALL_IS_UP(f->plan, WALL_MASK))
        return;
    if (len == 0 || strlen(step->path) <= len || memcmp(step->path, f->path, len) != 0 ||
        step->path[len] != '/')
        die(EINVAL, "mask", "masking %s, which is not in /proc", step->path);
    const char *name = step->path + len + 1;
    if (fstatat(f->proc, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISLNK(st.st_mode))
        cover_one(f, name, st.st_mode); /* this kernel may not have it */
}

struct kept {
    struct filling *filling;
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
    struct filling *f = kept->filling;
    struct stat st;
    bool process = *name >= '0' && *name <= '9';
    if (process || is_kept(kept->names, name) || fstatat(f->proc, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    /* Skips links, whose targets are handled anyway, and files that only their owner may open: the guest is
     * not their owner. */
    bool closed = (st.st_mode & 077) == 0 && st.st_uid != f->plan->uid;
    if (S_ISLNK(st.st_mode) || closed)
        return;
    cover_one(f, name, st.st_mode);
}

/* An allow-list: a file that a later kernel adds is masked, too. */
static void cover_others(struct filling *f, const struct step *step) {
    if (!WALL_IS_UP(f->plan, WALL_MASK))
        return;
    struct kept kept = {f, step->text};
    int dir = openat(f->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        die(errno, "mask", "listing %s in the guest", step->path);
    each_entry(dir, cover_unless_kept, &kept);
    close(dir);
}

static void write_sysctl(const struct filling *f, const struct step *step) {
    if (!WALL_IS_UP(f->plan, WALL_SYSCTL))
        return;
    int fd = f->proc < 0 ? -1 : openat(f->proc, step->path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, step->text, step->text_len) != (ssize_t)step->text_len)
        die(errno, "namespaces", "writing %s to /proc/%s", step->text, step->path);
    close(fd);
}

static void run_steps_of_proc(struct filling *f) {
    if (f->proc >= 0 && fchdir(f->proc) < 0) /* masks are relative to it */
        die(errno, "proc", "entering /proc in the guest");
    for (size_t i = 0; i < f->plan->step_count; i++) {
        const struct step *step = &f->plan->steps[i];
        if (step->kind == STEP_PROC)
            f->path = step->path;
        else if (step->kind == STEP_MASK)
            cover(f, step);
        else if (step->kind == STEP_ONLY)
            cover_others(f, step);
        else if (step->kind == STEP_SYSCTL)
            write_sysctl(f, step);
    }
    if (f->proc >= 0 && WALL_IS_UP(f->plan, WALL_READONLY))
        make_read_only(f->proc, AT_RECURSIVE, "proc", "/proc"); /* with its masks */
}

void fill_proc(const struct plan *plan, int reaper) {
    struct message go;
    int fds[MAX_PASSED] = {-1, -1, -1};
    size_t count;
    pid_t sender;
    if (!channel_receive(reaper, &go, fds, &count, &sender) || go.kind != MSG_GO)
        _exit(125); /* the reaper failed, and has reported it */
    struct filling f = {.plan = plan, .proc = fds[0], .covers = {fds[1], fds[2]}};
    run_steps_of_proc(&f);
    while (count > 0)
        close(fds[--count]);
}
