/* Answering refused calls and remembering them. The filter has decided already: whatever the guest
 * changes meanwhile, the answer is no, so there is nothing here to race against. */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MAX_REFUSALS = 128 };

struct refusal {
    int call;
    pid_t pid;
    uint64_t args[6];
    uint64_t count;
    char comm[17];
};

static struct refusal refusals[MAX_REFUSALS];
static size_t refusal_count;
static uint64_t not_remembered;

static void read_comm(pid_t pid, char comm[17]) {
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, comm, 16);
    if (fd >= 0)
        close(fd);
    comm[n > 0 ? n - 1 : 0] = '\0';
}

static void remember(const struct seccomp_notif *request) {
    for (size_t i = 0; i < refusal_count; i++) {
        struct refusal *known = &refusals[i];
        if (known->call == request->data.nr && known->args[0] == request->data.args[0]) {
            known->count++;
            return;
        }
    }
    if (refusal_count == MAX_REFUSALS) {
        not_remembered++;
        return;
    }
    struct refusal *fresh = &refusals[refusal_count++];
    fresh->call = request->data.nr;
    fresh->pid = (pid_t)request->pid;
    fresh->count = 1;
    memcpy(fresh->args, request->data.args, sizeof fresh->args);
    read_comm(fresh->pid, fresh->comm);
}

/* Going on is safe here, and only here: what was judged is a register, which no other thread can
 * change, and a sum, which only grows. */
static uint64_t spent;

uint64_t refusals_budget_spent(void) { return spent; }

static bool within_budget(const struct plan *plan, uint64_t amount) {
    if (!plan->disk_bytes)
        return true;
    if (amount > plan->disk_bytes || spent > plan->disk_bytes - amount)
        return false;
    spent += amount;
    return true;
}

void refusals_answer(const struct plan *plan, int listener) {
    union {
        struct seccomp_notif request;
        char room[512]; /* a later kernel may know a larger structure */
    } in;
    union {
        struct seccomp_notif_resp answer;
        char room[512];
    } out;
    memset(&in, 0, sizeof in);
    memset(&out, 0, sizeof out);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &in) < 0)
        return;
    int call = in.request.data.nr;
    out.answer.id = in.request.id;
    if (call == plan->budget_call && within_budget(plan, in.request.data.args[plan->budget_arg])) {
        out.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &out);
        return;
    }
    int error = call >= 0 && call < MAX_SYSCALL ? plan->refusal_errno[call] : 0;
    out.answer.error = -(error ? error : EPERM);
    remember(&in.request);
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &out); /* fails if the task died meanwhile */
}

void refusals_report(void) {
    for (size_t i = 0; i < refusal_count; i++) {
        const struct refusal *r = &refusals[i];
        char comm[128];
        json_escape(comm, sizeof comm, r->comm, strlen(r->comm));
        emit("{\"event\":\"refused\",\"call\":%d,\"pid\":%d,\"comm\":\"%s\",\"count\":%llu,"
             "\"args\":[%llu,%llu,%llu,%llu,%llu,%llu]}",
             r->call, (int)r->pid, comm, (unsigned long long)r->count,
             (unsigned long long)r->args[0], (unsigned long long)r->args[1],
             (unsigned long long)r->args[2], (unsigned long long)r->args[3],
             (unsigned long long)r->args[4], (unsigned long long)r->args[5]);
    }
    if (not_remembered)
        emit("{\"event\":\"refused-more\",\"count\":%llu}", (unsigned long long)not_remembered);
}
