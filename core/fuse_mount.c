/* The FUSE root (fuse_root.c), in the processes that build it: the mount itself, and the entries in it; our
 * own directories are mounted first. */
#define _GNU_SOURCE
#include "fortify.h"
#include "fuse_mount.h"
#include "channel.h"
#include "fail.h"
#include "fuse_root.h"
#include "mount_calls.h"
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int device = -1;
static int root = -1, files = -1; /* the mount, and the private files */
static struct top *tops;          /* what stands in it */
static size_t top_count;
static int mounts[MAX_TOPS]; /* of our own directories there, or -1 */
static bool writable[MAX_TOPS];

void fuse_mount_open(const struct plan *plan) {
    if (plan->lookups)
        device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
}

void fuse_mount_forget(void) {
    if (device >= 0)
        close(device);
    device = -1;
}

/* -1 where it is not available: then lookups of missing names are not seen, and the result says so. */
static int mount_fuse(const struct plan *plan) {
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

/* All directories are mounted at once: looked up one by one, each would be a round trip. */
static void learn_names(void) {
    char list[4096];
    int dir = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0) {
        syscall(SYS_getdents64, dir, list, sizeof list);
        close(dir);
    }
}

/* Every program goes through these links, and would ask the supervisor for each. A link can be mounted on a
 * link; where that fails, the supervisor answers. */
static int detach_link(const struct top *top) {
    return symlinkat(top->link, files, top->name) < 0
               ? -1
               : (int)syscall(SYS_open_tree, files, top->name,
                              OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
}

static int detach_own(const struct top *top) {
    if (mkdirat(files, top->name, 0755) < 0)
        die(errno, "mount", "making /%s in the guest", top->name);
    return mount_detach(files, top->name, "mount");
}

/* Meanwhile the supervisor answers the new file system's first requests. */
static void detach_tops(int detached[MAX_TOPS]) {
    tops = fuse_root_tops(&top_count);
    for (size_t i = 0; i < top_count; i++) {
        detached[i] = tops[i].link[0] ? detach_link(&tops[i]) : fuse_root_own(i) ? detach_own(&tops[i]) : -1;
        mounts[i] = fuse_root_own(i) ? detached[i] : -1;
    }
}

static void attach_tops(const int detached[MAX_TOPS]) {
    for (size_t i = 0; i < top_count; i++)
        if (mounts[i] >= 0)
            mount_attach(mounts[i], root, tops[i].name, "mount", tops[i].name);
        else if (detached[i] >= 0) {
            syscall(SYS_move_mount, detached[i], "", root, tops[i].name, 4 /* MOVE_MOUNT_F_EMPTY_PATH */);
            close(detached[i]); /* close early: the caller may have a low limit of open files */
        }
}

int fuse_mount_place(const struct plan *plan, int private_files, const char *place, int ctl) {
    struct message message = {.kind = MSG_FUSE_DEVICE};
    int detached[MAX_TOPS];
    files = private_files;
    root = device >= 0 && fuse_root_shape(plan) ? mount_fuse(plan) : -1;
    if (root >= 0)
        channel_send(ctl, &message, &device, 1);
    fuse_mount_forget(); /* a process that waits for an answer must not hold the device: see fuse_root.c */
    if (root < 0)
        return files;
    if (syscall(SYS_move_mount, root, "", AT_FDCWD, place, 4 /* MOVE_MOUNT_F_EMPTY_PATH */) < 0)
        die(errno, "mount", "placing the guest's root");
    detach_tops(detached);
    learn_names();
    attach_tops(detached);
    return root;
}

static size_t top_at(const char *path) {
    path += strspn(path, "/");
    size_t len = strcspn(path, "/");
    for (size_t i = 0; i < top_count; i++)
        if (strlen(tops[i].name) == len && memcmp(tops[i].name, path, len) == 0)
            return i;
    return MAX_TOPS;
}

bool fuse_mount_holds(const char *path) {
    path += strspn(path, "/");
    return root >= 0 && !strchr(path, '/');
}

bool fuse_mount_takes(const struct step *step) {
    if ((step->kind != STEP_SYMLINK && step->kind != STEP_PRIVATE) || !fuse_mount_holds(step->path))
        return false;
    if (step->kind == STEP_SYMLINK)
        return true;
    size_t top = top_at(step->path);
    writable[top] = true;
    if (fchmodat(files, tops[top].name, (mode_t)step->number, 0) < 0)
        die(errno, "mount", "setting the mode of %s", step->path);
    return true;
}

/* Not through the root: that lookup would ask the supervisor. */
int fuse_mount_start(const char **path) {
    size_t top = fuse_mount_holds(*path) ? MAX_TOPS : top_at(*path);
    if (top == MAX_TOPS || mounts[top] < 0)
        return -1;
    *path += strcspn(*path, "/") + 1;
    return mounts[top];
}

/* Lets the supervisor look at each entry without a lookup that it would have to answer itself. */
void fuse_mount_hand_over(int ctl) {
    struct message message = {.kind = MSG_FUSE_TOPS};
    int fds[MAX_TOPS] = {-1};
    size_t count = 0;
    if (root < 0)
        return;
    for (size_t i = 0; i < top_count; i++)
        if (!tops[i].link[0])
            fds[count++] = mounts[i] >= 0 ? fcntl(mounts[i], F_DUPFD_CLOEXEC, 3)
                                          : openat(root, tops[i].name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    channel_send(ctl, &message, fds, count);
    while (count > 0)
        close(fds[--count]);
}

void fuse_mount_seal(void) {
    char what[64];
    for (size_t i = 0; i < top_count; i++)
        if (mounts[i] >= 0 && !writable[i]) {
            snprintf(what, sizeof what, "/%s in the guest", tops[i].name);
            make_read_only(mounts[i], 0, "mount", what);
        }
}

void fuse_mount_close(void) {
    for (size_t i = 0; i < top_count; i++)
        if (mounts[i] >= 0)
            close(mounts[i]);
    if (root >= 0)
        close(root);
}

void fuse_mount_built(const struct plan *plan, int ctl) {
    struct message built = {.kind = MSG_FUSE_BUILT};
    if (plan->lookups)
        channel_send(ctl, &built, NULL, 0);
}
