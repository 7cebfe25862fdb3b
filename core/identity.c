/* Who the guest is, inside and outside.
 *
 * An ordinary caller's guest keeps the caller's own user id outside. A root caller's guest must not
 * be root outside: it becomes an id that owns nothing (guest_host_uid), and shares that the caller
 * names are mounted with the owner's id mapped onto it (idmap_namespace).
 */
#define _GNU_SOURCE
#include "fortify.h"
#include "identity.h"
#include "fail.h"
#include "numbers.h"
#include "omitted_walls.h"
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* "nobody", for containers that map fewer ids. */
static const uid_t nobody = 65534;
static uid_t host_id;
static gid_t host_group;
static bool root_called;

uid_t guest_host_uid(void) { return host_id; }

/* Decided once, outside: after the clone the caller's own id is no longer mapped. */
bool caller_is_root(void) { return root_called; }

static int write_proc(pid_t pid, const char *name, const char *text) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    ssize_t n = write(fd, text, strlen(text));
    int error = n < 0 ? errno : 0;
    close(fd);
    return error;
}

static int map_one(pid_t child, const char *file, unsigned inside, unsigned outside) {
    char line[64];
    snprintf(line, sizeof line, "%u %u 1\n", inside, outside);
    return write_proc(child, file, line);
}

/* Does one of our own id maps contain this id? Yes only if the map could be read. */
static bool id_is_mapped(const char *map, unsigned id) {
    char text[1024] = "";
    int fd = open(map, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    uint64_t inside, outside, count;
    for (const char *at = n > 0 ? text : ""; *at; at += *at == '\n') {
        if (!(at = next_number(at, &inside)) || !(at = next_number(at, &outside)) ||
            !(at = next_number(at, &count)))
            return false;
        if (id >= inside && id - inside < count)
            return true;
    }
    return false;
}

/* Where user id 0 is the only one, root is the root of a one-user namespace and not the host's: its guest may
 * keep that id. Where other ids exist, root's guest must get one of them. */
void choose_identity(const struct plan *plan) {
    host_id = geteuid();
    host_group = getegid();
    root_called = geteuid() == 0;
    if (!caller_is_root() || !WALL_IS_UP(plan, WALL_IDENTITY))
        return;
    const uid_t host_ids[] = {plan->host_id, GUEST_IDS, nobody};
    for (size_t i = 0; i < sizeof host_ids / sizeof *host_ids; i++)
        if (host_ids[i] && id_is_mapped("/proc/self/uid_map", host_ids[i]) &&
            id_is_mapped("/proc/self/gid_map", host_ids[i])) {
            host_id = host_group = host_ids[i];
            return;
        }
    if (!id_is_mapped("/proc/self/uid_map", 0))
        die(ENOENT, "identity", "reading /proc/self/uid_map (is /proc hidden?)");
    if (id_is_mapped("/proc/self/uid_map", 1))
        die(EPERM, "identity", "finding a user id for the guest other than root's");
}

void map_identity(const struct plan *plan, pid_t child) {
    if (host_id == geteuid()) {
        int error = write_proc(child, "setgroups", "deny");
        if (error && error != ENOENT)
            die(error, "identity", "writing /proc/PID/setgroups (is /proc hidden?)");
    }
    int error = map_one(child, "uid_map", plan->uid, host_id);
    if (!error)
        error = map_one(child, "gid_map", plan->gid, host_group);
    if (error)
        die(error, "identity", "mapping the guest's user id to %u outside (in /proc/PID/uid_map)", host_id);
}

/* Where owners can't be mapped, our own work directory is handed to the guest instead. */
bool give_to_guest(const char *path) {
    struct stat st;
    int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool ours = fd >= 0 && fstat(fd, &st) == 0 && (st.st_uid == 0 || st.st_uid == host_id);
    bool given = ours && syscall(SYS_fchownat, fd, "", host_id, host_group, AT_EMPTY_PATH) == 0;
    if (fd >= 0)
        close(fd);
    return given;
}

void take_identity(const struct plan *plan) {
    /* Refused with EPERM where setgroups is denied: then the groups are the caller's own. */
    if (setgroups(0, NULL) < 0 && errno != EPERM)
        die(errno, "identity", "dropping supplementary groups");
    if (setresgid(plan->gid, plan->gid, plan->gid) < 0 ||
        setresuid(plan->uid, plan->uid, plan->uid) < 0)
        die(errno, "identity", "becoming user %u", plan->uid);
}

/* A user namespace used only as a map: what `owner` owns on disk, the guest owns in the mount. */
int idmap_namespace(uid_t owner, gid_t group) {
    int hold[2];
    if (pipe2(hold, O_CLOEXEC) < 0)
        die(errno, "identity", "making a pipe");
    pid_t child = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (child < 0)
        die(errno, "namespaces", "creating a user namespace to map a share's owner");
    if (child == 0) {
        char byte;
        close(hold[1]);
        _exit(read(hold[0], &byte, 1) < 0);
    }
    char path[64];
    int error = map_one(child, "uid_map", owner, host_id);
    if (!error)
        error = map_one(child, "gid_map", group, host_group);
    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)child);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (!error && fd < 0)
        error = errno;
    close(hold[0]);
    close(hold[1]);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (error)
        die(error, "identity", "mapping a share's owner");
    return fd;
}
