/* connect(2) for a confined guest. Landlock does not judge sockets with a path, and a call that went on
 * after a look at its address could mean another one by then. So the supervisor takes the guest's own
 * socket, reads the address once, opens the socket file and judges where it lies; a child of the reaper's
 * connects the socket to exactly that file, for as long as that takes.
 *
 * The reaper is in a Landlock domain around the guest's, in which abstract sockets of the host's are out
 * of reach, and those of the guest's are not: the kernel judges abstract names. */
#define _GNU_SOURCE
#include "fortify.h"
#include "connecting.h"
#include "descriptors.h"
#include "identity.h"
#include "reach.h"
#include "refusals.h"
#include "tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define ABSTRACT_SCOPE 1ULL

static int ends[2] = {-1, -1}; /* the supervisor's, and the reaper's */

void connecting_prepare(void) { channel_pair(ends); }

int connecting_reapers_end(void) {
    if (ends[0] >= 0)
        close(ends[0]);
    ends[0] = -1;
    return ends[1];
}

int connecting_fd(void) {
    if (ends[1] >= 0)
        close(ends[1]);
    ends[1] = -1;
    return ends[0];
}

static struct deputy_answer refused(int error) { return (struct deputy_answer){DEED_DONE, error, 0}; }

static int family_of(int fd) {
    int domain = -1;
    socklen_t len = sizeof domain;
    return syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) < 0 ? -1 : domain;
}

/* The file that a path names, if the guest may connect to it; or -1 with errno. */
static int socket_file(const struct plan *plan, const struct call *call, const struct message *m) {
    char name[sizeof m->connect.address];
    struct stat st;
    size_t len = strnlen(m->connect.address + sizeof(sa_family_t), m->connect.len - sizeof(sa_family_t));
    memcpy(name, m->connect.address + sizeof(sa_family_t), len);
    name[len] = '\0';
    deputy_as_guest(plan, true);
    int fd = deputy_open(call->task, AT_FDCWD, name, true), error = errno;
    deputy_as_guest(plan, false);
    if (fd < 0) {
        errno = error;
        return -1;
    }
    bool is_socket = fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
    if (is_socket && reach_is_named(fd))
        return fd;
    char path[PATH_MAX];
    if (is_socket && reach_name(fd, path))
        remember(call, BY_ABSENCE, path, strlen(path), NULL);
    close(fd);
    errno = is_socket ? EACCES : ECONNREFUSED;
    return -1;
}

/* In which family, and to what: the answer, or 0 and the descriptors that the reaper needs. */
static int judge_connect(const struct plan *plan, const struct call *call, struct message *m, int fds[2], size_t *count) {
    sa_family_t family = AF_UNSPEC;
    int own = family_of(fds[0]);
    if (m->connect.len >= sizeof family)
        memcpy(&family, m->connect.address, sizeof family);
    if (own < 0)
        return ENOTSOCK;
    if (own != AF_UNIX) /* there are others only with the host's network */
        return plan->bare.internet ? 0 : EACCES;
    if (family != AF_UNIX || m->connect.len <= sizeof family)
        return EINVAL;
    if (m->connect.address[sizeof family] == '\0')
        return plan->landlock_scoped & ABSTRACT_SCOPE ? 0 : EPERM; /* nobody else tells them apart */
    fds[1] = socket_file(plan, call, m);
    *count = 2;
    return fds[1] < 0 ? errno : 0;
}

struct deputy_answer connecting_begin(const struct plan *plan, int listener, const struct seccomp_notif *request, const struct call *call) {
    struct message m = {.kind = MSG_CONNECT};
    uint32_t len = (uint32_t)call->args[2];
    int fds[2] = {-1, -1}, error;
    size_t count = 1;
    if (len > sizeof m.connect.address)
        return refused(EINVAL);
    if (len && task_bytes(call->task, call->args[1], m.connect.address, len) != (ssize_t)len)
        return refused(EFAULT);
    m.connect.len = (uint16_t)len;
    m.connect.id = request->id;
    fds[0] = deputy_descriptor(call->task, (int)call->args[0]);
    if (fds[0] < 0)
        return refused(errno == EPERM ? EACCES : errno);
    error = judge_connect(plan, call, &m, fds, &count);
    if (!error && (!deputy_still_waits(listener, request->id) || ends[0] < 0 || !channel_has_room(ends[0])))
        error = EAGAIN;
    if (!error)
        channel_send(ends[0], &m, fds, count);
    for (size_t i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return (struct deputy_answer){error ? DEED_DONE : DEED_PENDING, error, 0};
}

void connecting_done(int listener) {
    struct message message;
    int fds[MAX_PASSED];
    size_t count;
    pid_t sender;
    if (!channel_receive(ends[0], &message, fds, &count, &sender)) {
        close(ends[0]); /* the reaper is gone */
        ends[0] = -1;
        return;
    }
    union {
        struct seccomp_notif_resp answer;
        char room[512]; /* a later kernel may know a larger structure */
    } out;
    memset(&out, 0, sizeof out);
    out.answer.id = message.connect.id;
    out.answer.error = -message.connect.error;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &out); /* fails if the task died meanwhile */
}

/* The child: as the guest, connected to what was judged, by the very file that is open. */
static _Noreturn void connect_one(const struct plan *plan, struct message *m, const int *fds, size_t count) {
    struct sockaddr_un file = {.sun_family = AF_UNIX};
    const void *address = m->connect.address;
    size_t len = m->connect.len;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (plan->uid)
        take_identity(plan);
    if (count == 2) {
        snprintf(file.sun_path, sizeof file.sun_path, "/proc/self/fd/%d", fds[1]);
        address = &file;
        len = sizeof file;
    }
    m->kind = MSG_CONNECTED;
    m->connect.error = syscall(SYS_connect, fds[0], address, len) < 0 ? errno : 0;
    channel_send(ends[1], m, NULL, 0);
    _exit(0);
}

void connecting_serve(const struct plan *plan) {
    struct message m;
    int fds[MAX_PASSED];
    size_t count;
    pid_t sender;
    if (!channel_receive(ends[1], &m, fds, &count, &sender))
        return;
    if (m.kind == MSG_CONNECT && count >= 1) {
        pid_t child = fork();
        if (child == 0)
            connect_one(plan, &m, fds, count);
        if (child < 0) {
            m.kind = MSG_CONNECTED;
            m.connect.error = EAGAIN;
            channel_send(ends[1], &m, NULL, 0);
        }
    }
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
}
