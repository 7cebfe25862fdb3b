/* The last steps before the guest's own program: session, streams, limits, Landlock, filter, exec. */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_terminal(int ctl) {
    int master = open_unseen("/dev/ptmx", O_RDWR | O_NOCTTY);
    int unlock = 0, number = 0;
    if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0 || ioctl(master, TIOCGPTN, &number) < 0)
        die(errno, "terminal", "opening a terminal for the guest");
    char path[32];
    snprintf(path, sizeof path, "/dev/pts/%d", number);
    int slave = open_unseen(path, O_RDWR | O_NOCTTY);
    if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
        die(errno, "terminal", "making it the guest's controlling terminal");
    struct message message = {.kind = MSG_PTY};
    channel_send(ctl, &message, &master, 1);
    close(master);
    return slave;
}

static void take_streams(const struct plan *plan, int ctl) {
    int terminal = plan->pty ? open_terminal(ctl) : -1;
    for (int i = 0; i < 3; i++) {
        int fd = plan->streams[i].kind == STREAM_PTY ? terminal : relay_guest_end(i);
        if (fd < 0)
            fd = open_unseen("/dev/null", O_RDWR);
        if (fd < 0 || dup2(fd, i) < 0)
            die(errno, "streams", "giving the guest its standard streams");
    }
}

/* Nothing but the streams and what is still needed stays open, in the lowest places: the guest may
 * be allowed few files. */
static void keep_only(int *ctl, int *reaper, int *listener) {
    int *const kept[] = {ctl, reaper, listener};
    int next = 3;
    for (size_t i = 0; i < 3; i++) {
        if (*kept[i] < 0)
            continue;
        for (size_t later = i + 1; later < 3; later++) /* out of the way, if one is in it */
            if (*kept[later] == next && (*kept[later] = fcntl(next, F_DUPFD_CLOEXEC, next + 3)) < 0)
                die(errno, "streams", "closing what is not the guest's");
        if (*kept[i] != next && dup2(*kept[i], next) < 0)
            die(errno, "streams", "closing what is not the guest's");
        fcntl(next, F_SETFD, FD_CLOEXEC);
        *kept[i] = next++;
    }
    close_all_but(next - 1);
    report_to_supervisor(*ctl);
}

/* Like execvpe, and remembers that something was found but could not be run. */
static int exec_by_path(const struct plan *plan) {
    const char *name = plan->argv[0];
    if (*name == '\0' || strchr(name, '/')) {
        execve(name, plan->argv, plan->envp);
        return errno;
    }
    int error = ENOENT;
    size_t name_len = strlen(name);
    for (const char *at = plan->path; *at;) {
        size_t len = strcspn(at, ":");
        char path[4096];
        if (len > 0 && len + name_len + 2 < sizeof path) {
            memcpy(path, at, len);
            path[len] = '/';
            memcpy(path + len + 1, name, name_len + 1);
            execve(path, plan->argv, plan->envp);
            if (errno != ENOENT && errno != ENOTDIR && (errno != EACCES || error == ENOENT))
                error = errno;
            if (errno == ENOEXEC || errno == E2BIG || errno == ENOMEM)
                break;
        }
        at += len + (at[len] == ':');
    }
    return error;
}

/* ENOENT for a file that exists means that its interpreter does not. */
static int exec_error(const struct plan *plan, int error) {
    struct stat st;
    const char *name = plan->argv[0];
    if (error == EACCES && strchr(name, '/') && stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        return EISDIR;
    if (error == ENOENT && strchr(name, '/') && stat(name, &st) == 0)
        return ELIBBAD;
    return error;
}

_Noreturn void guest_main(struct plan *plan, int ctl, int reaper) {
    int listener = -1;
    give_turn(reaper, own_network(plan));
    limit_capabilities(plan);
    drop_capabilities(plan);
    if (WALL_IS_UP(plan, WALL_SESSION) && setsid() < 0)
        die(errno, "session", "starting a session");
    forget_session_keyring(plan);
    set_rlimits(plan);
    if (plan->early_filter) /* while the root is being built; later, it would be waited for */
        listener = install_filter(plan);
    wait_for_turn(reaper); /* until the new root is ours */
    take_streams(plan, ctl);
    if (WALL_IS_UP(plan, WALL_CLOSE))
        keep_only(&ctl, &reaper, &listener);
    if (chdir(plan->cwd) < 0)
        die(errno, "cwd", "changing to the working directory %s in the guest", plan->cwd);
    restrict_with_landlock(plan);
    wait_for_turn(reaper); /* until nothing of the host's is left */
    limit_open_files(plan);
    if (!plan->early_filter)
        listener = install_filter(plan);

    struct message ready = {.kind = MSG_READY};
    channel_send(ctl, &ready, &listener, listener >= 0); /* closed by execve: close may be watched */
    struct message failed = {.kind = MSG_EXEC_FAILED};
    failed.error = exec_error(plan, exec_by_path(plan));
    channel_send(ctl, &failed, NULL, 0);
    _exit(127);
}
