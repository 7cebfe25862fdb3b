/* The guest's root: an empty tmpfs, filled step by step from the plan, then pivoted into. */
#define _GNU_SOURCE
#include "fortify.h"
#include "root.h"
#include "channel.h"
#include "fail.h"
#include "fuse_mount.h"
#include "guest.h"
#include "guest_proc.h"
#include "mount_calls.h"
#include "network.h"
#include "omitted_walls.h"
#include "plan.h"
#include "root_steps.h"
#include "sources.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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
    return mount_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, "mount");
}

static dev_t device_of(int fd) {
    struct stat st;
    if (fstat(fd, &st) < 0)
        die(errno, "mount", "looking at the private files");
    return st.st_dev;
}

/* The supervisor measures the guest through these; sysvipc shows the opener's ipc namespace. */
static void hand_over_views(const struct builder *b, int ctl) {
    if (b->proc < 0)
        return;
    static const char *const tables[] = {"sysvipc/shm", "sysvipc/sem", "sysvipc/msg"};
    /* The mount namespace as well: its last holder tears it down, which need not happen before the run's end
     * is reported. */
    int fds[7] = {b->proc, b->files, b->writable_proc, openat(b->proc, "self/ns/mnt", O_RDONLY | O_CLOEXEC)};
    size_t count = 4;
    if (fds[3] < 0)
        die(errno, "mount", "holding the guest's mounts");
    for (size_t i = 0; i < 3; i++) {
        int fd = openat(b->proc, tables[i], O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            break; /* a kernel without System V ipc has none of them */
        fds[count++] = fd;
    }
    struct message message = {.kind = MSG_PROC};
    channel_send(ctl, &message, fds, count);
    while (count > 3)
        close(fds[--count]);
}

static void enter_root(const struct builder *b, const char *place, int guest, int ctl) {
    if (WALL_IS_UP(b->plan, WALL_READONLY)) {
        make_read_only(b->root, 0, "mount", "the guest's root");
        fuse_mount_seal();
    }
    join_network(b->plan, wait_for_turn(guest)); /* early: later it could be in the way */
    if (!WALL_IS_UP(b->plan, WALL_PIVOT)) {
        if (fchdir(b->root) < 0 || chroot(".") < 0)
            die(errno, "mount", "changing root");
        hand_streams(b->plan, guest, ctl);
        return;
    }
    if (syscall(SYS_pivot_root, place, place) < 0) /* by name: entering it first would be a lookup for the supervisor */
        die(errno, "mount", "pivoting into the guest's root");
    hand_streams(b->plan, guest, ctl); /* it goes on in the new root while the old one is unmounted */
    if (umount2("/", MNT_DETACH) < 0 || (b->proc < 0 && chdir("/") < 0)) /* it lies on the new one */
        die(errno, "mount", "leaving the host's root behind");
}

static void close_all(const struct builder *b) {
    const int fds[] = {b->files, b->proc, b->writable_proc, b->hidden};
    fuse_mount_close();
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

void build_root(struct plan *plan, int ctl, int guest) {
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        die(errno, "mount", "making the mounts private");
    struct builder b = {.plan = plan, .ctl = ctl, .files = own_files(plan),
                        .proc = -1, .writable_proc = -1, .hidden = -1, .parent.fd = -1};
    b.device = device_of(b.files);
    const char *place = attach_somewhere(b.files);
    if (plan->sources_come)
        take_sources(plan, ctl);
    b.root = fuse_mount_place(plan, b.files, place, ctl);
    mount_proc(&b, guest);
    for (size_t i = 0; i < plan->step_count; i++)
        run_step(&b, &plan->steps[i]);
    remove_spares(&b);
    hand_over_views(&b, ctl);
    fuse_mount_hand_over(ctl);
    enter_root(&b, place, guest, ctl);
    close_all(&b);
}
