/* A place on the host where programs can harm nothing: namespaces, an ordinary user, no rights, and
 * nothing to write to but memory of its own. If it can't be made, nothing runs. */
#define _GNU_SOURCE
#include "executor.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSIDE_ID 1000
static const unsigned host_ids[] = {0x70000000, 65534}; /* as the launcher has it */

static int write_text(pid_t pid, const char *name, const char *text) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = write(fd, text, strlen(text));
    int number = errno;
    close(fd);
    errno = number;
    return n < 0 ? -1 : 0;
}

static int map_ids(pid_t child, unsigned uid, unsigned gid) {
    char line[64];
    snprintf(line, sizeof line, "%d %u 1\n", INSIDE_ID, uid);
    if (write_text(child, "uid_map", line) < 0)
        return -1;
    snprintf(line, sizeof line, "%d %u 1\n", INSIDE_ID, gid);
    return write_text(child, "gid_map", line);
}

static void map_identity(pid_t child) {
    if (geteuid() != 0) {
        if (write_text(child, "setgroups", "deny") < 0 || map_ids(child, geteuid(), getegid()) < 0)
            die("mapping the user");
        return;
    }
    for (size_t i = 0; i < sizeof host_ids / sizeof *host_ids; i++)
        if (map_ids(child, host_ids[i], host_ids[i]) == 0)
            return;
    die("mapping a user other than root");
}

static void put_on(const char *place, const char *type, unsigned long flags, const char *options) {
    struct stat st;
    if (stat(place, &st) < 0)
        return;
    if (mount(type, place, type, flags, options) < 0)
        die("mounting %s on %s", type, place);
}

static void take_places(void) {
    struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};
    if (mount("", "/", "", MS_REC | MS_PRIVATE, "") < 0)
        die("making mounts private");
    if (syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &read_only, sizeof read_only) < 0)
        die("making everything read-only");
    struct mount_attr as_it_was = {.attr_clr = MOUNT_ATTR_RDONLY};
    /* Devices belong to root; what a program answers should not depend on the mount. */
    if (syscall(SYS_mount_setattr, AT_FDCWD, "/dev", AT_RECURSIVE, &as_it_was, sizeof as_it_was) < 0)
        die("giving /dev back");
    put_on("/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=64m");
    put_on("/var/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=1m");
    put_on("/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=1m");
    put_on("/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620");
    mount("/dev/pts/ptmx", "/dev/ptmx", "", MS_BIND, ""); /* often a link to it already */
    put_on("/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
}

static void raise_loopback(void) {
    struct ifreq request = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return; /* a kernel without it has none in the sandbox either */
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
        die("raising the loopback");
    close(fd);
}

static void drop_rights(void) {
    /* No namespaces of its own, in which it would be able to do what it can't do here. */
    int fd = open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "0", 1) != 1)
        die("forbidding nested namespaces");
    close(fd);
    for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
            die("dropping capability %d", cap);
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    if (syscall(SYS_capset, &header, none) < 0)
        die("dropping capabilities");
}

void require_no_rights(bool root_is_nobody) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct has[2] = {{0}};
    errno = EPERM;
    if (!root_is_nobody && (geteuid() == 0 || getuid() == 0))
        die("it does not run programs as root");
    if (syscall(SYS_capget, &header, has) < 0 || has[0].effective || has[1].effective ||
        has[0].permitted || has[1].permitted)
        die("it does not run programs with capabilities");
}

/* The parent ends as the child does. */
void become_oracle(void) {
    int ready[2];
    char byte = 0;
    if (geteuid() == 0 && setgroups(0, NULL) < 0)
        die("dropping groups");
    if (pipe2(ready, O_CLOEXEC) < 0)
        die("making a pipe");
    unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                          CLONE_NEWUTS | CLONE_NEWCGROUP;
    pid_t child = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (child < 0)
        die("making namespaces");
    if (child > 0) {
        int status;
        map_identity(child);
        if (write(ready[1], &byte, 1) != 1)
            die("starting");
        close(ready[1]);
        while (waitpid(child, &status, 0) < 0)
            if (errno != EINTR)
                die("waiting");
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        exit(3); /* the parent has said why */
    close(ready[0]);
    if (setresgid(INSIDE_ID, INSIDE_ID, INSIDE_ID) < 0 ||
        setresuid(INSIDE_ID, INSIDE_ID, INSIDE_ID) < 0)
        die("becoming an ordinary user");
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* changing ids clears both */
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    take_places();
    raise_loopback();
    drop_rights();
}
