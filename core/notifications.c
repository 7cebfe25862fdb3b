/* Answers the calls that reach the supervisor as notifications, seccomp_unotify(2).
 *
 * There are two kinds; bpf.c distinguishes them by their registers. Calls that the filter refuses are
 * answered with an error, whatever the guest changes meanwhile, except those that quotas.c allows by a number
 * in a register. Watched calls go on: mounts, namespaces and Landlock decide about them, and all that is done
 * here is to record what they will run into; except for opening the files that own_files.c opens. */
#define _GNU_SOURCE
#include "fortify.h"
#include "notifications.h"
#include "bpf.h"
#include "call.h"
#include "commands.h"
#include "connecting.h"
#include "deputy.h"
#include "fuse_root.h"
#include "judge.h"
#include "monotonic.h"
#include "own_files.h"
#include "own_shm.h"
#include "plan.h"
#include "ports.h"
#include "predict.h"
#include "program.h"
#include "quotas.h"
#include "reach.h"
#include "refusals.h"
#include "sight.h"
#include "subject.h"
#include "tasks.h"
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS _IOW('!', 4, uint64_t)
#endif

static int listener = -1;

void notifications_begin(int fd) {
    listener = fd;
    refusals_begin();
    ports_begin();
    uint64_t stay = 1; /* wakes the other side on this processor: half the cost; Linux 6.6 */
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, stay);
}

static struct traced_text path_text(int argument, const char *path, const struct sight *s) {
    enum text_kind what = !s->there ? TEXT_ABSENT : s->directory ? TEXT_DIRECTORY : TEXT_PATH;
    return (struct traced_text){argument, what, path, strlen(path)};
}

static void trace(const struct plan *plan, struct subject *about, int error, bool answered) {
    struct traced_text texts[3];
    size_t count = 0;
    struct sight sight = {.there = true}, other;
    const struct watched *w = about->watched;
    bool known = about->has_path || (w->kind == WATCH_EXEC && !trace_has_begun() &&
                                     program_tried(plan, about->call.args[3], about->path));
    if (known) {
        if (!sight_look(about->path, predict_follows(&about->call, w), &sight, NULL))
            sight = (struct sight){.there = true};
        else if (!error && !answered)
            error = predict(&about->call, w, about->path, &sight);
        if (!error && !answered && reach_known() && reach_hindrance(&about->call, w, w->kind, about->path, predict_follows(&about->call, w)))
            error = EACCES;
        texts[count++] = path_text(w->path < 0 ? 1 : w->path, about->path, &sight);
    }
    if (about->has_other && w->other >= 0) {
        if (!sight_look(about->other, false, &other, NULL))
            other = (struct sight){.there = true};
        else if (!error)
            error = predict_other(&about->call, w, &sight, &other);
        texts[count++] = path_text(w->other, about->other, &other);
    } else if (about->has_other) {
        texts[count++] = (struct traced_text){1, TEXT_NAME, about->other, strlen(about->other)};
    }
    if (about->address_len)
        texts[count++] = (struct traced_text){1, TEXT_ADDRESS, about->address, about->address_len};
    trace_call(&about->call, w, error, texts, count, sight.there);
}

/* Until the guest has become its program we can't read its memory, which is the launcher's; that hides
 * nothing. In a living sandbox each command begins like this. */
static void forget_missed_of_launcher(const struct call *call, uint64_t before) {
    static bool begun;
    bool tries = call->number == SYS_execve && (call->args[3] & ~0xffffffffULL) == TRIED;
    begun = begun || !tries;
    if (!begun || (tries && commands_on()))
        tasks_forget_missed(before);
}

/* True if the answer comes later. */
static bool carry_out(const struct plan *plan, const struct seccomp_notif *request, struct seccomp_notif_resp *answer) {
    struct deputy_answer act = deputy_act(plan, listener, request);
    answer->flags = act.deed == DEED_GOES_ON ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
    answer->error = act.deed == DEED_DONE ? -act.error : 0;
    answer->val = act.deed == DEED_DONE && !act.error ? act.value : 0;
    return act.deed == DEED_PENDING;
}

/* What the walls will say to a call that goes on; in the guest's own /dev/shm, it is answered. */
static bool look_at(const struct plan *plan, const struct seccomp_notif *request, struct subject *about, struct seccomp_notif_resp *answer) {
    int error;
    bool given;
    if (own_shm_answers(plan, listener, request, about, &error, &given)) {
        answer->error = -error;
        return given;
    }
    judge_limits(plan, about);
    judge(plan, about);
    answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    return false;
}

static void answer_one(const struct plan *plan) {
    static struct subject about;
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
    const struct seccomp_data *data = &in.request.data;
    about.call.task = (pid_t)in.request.pid;
    about.call.number = data->nr;
    memcpy(about.call.args, data->args, sizeof about.call.args);
    about.watched = data->nr >= 0 && data->nr < MAX_SYSCALL ? &plan->watched_calls[data->nr] : NULL;
    about.has_path = about.has_other = false;
    about.address_len = 0;
    out.answer.id = in.request.id;
    sight_asker(about.call.task);
    uint64_t missed_before = tasks_missed();
    int error = bpf_verdict(data);
    bool watched = about.watched && about.watched->kind && error == 0, acted = error == 0 && deputy_takes(plan, data->nr);
    bool answered = false; /* or will be */
    int own = -1;
    if (watched) {
        read_subject(&about);
        own = own_file_open(&about);
        if (own < 0)
            answered = look_at(plan, &in.request, &about, &out.answer);
        else
            out.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    } else if (!acted && quotas_allow(plan, data->nr, about.call.args)) {
        out.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    } else if (!acted) {
        if (about.watched && plan->refusal_errno[data->nr])
            error = plan->refusal_errno[data->nr];
        out.answer.error = -(error ? error : EPERM);
        if (about.watched && about.watched->kind)
            read_subject(&about);
        if (error != ENOSYS) /* a call that this kernel might not have either */
            remember(&about.call, BY_FILTER, about.path, about.has_path ? strlen(about.path) : 0, NULL);
    }
    if (acted)
        answered = carry_out(plan, &in.request, &out.answer);
    forget_missed_of_launcher(&about.call, missed_before);
    if (trace_on() && about.watched && about.watched->kind) {
        trace(plan, &about, -out.answer.error, own >= 0);
        trace_goes_on(about.call.task);
    }
    if (!answered && (own < 0 || !own_file_hand_over(listener, &in.request, own, &about)))
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &out); /* fails if the task died meanwhile */
    if (watched && predict_alters(&about.call, about.watched))
        sight_changed(predict_alters_files(&about.call, about.watched));
}

void notifications_connected(void) { connecting_done(listener); }

int notifications_fd(void) { return trace_full() ? -1 : listener; }

/* Calls come in bursts, and each looks up its path in the root once it goes on. Between two of them only the
 * run's end is checked; everything else can wait for a millisecond. */
static void answer_run(const struct plan *plan, const int urgent[URGENT]) {
    enum { AT_MOST = 128, AT_MOST_US = 5000, BETWEEN_LOOKS = 8 }; /* at the clock */
    struct pollfd fds[] = {{.fd = listener, .events = POLLIN, .revents = POLLIN},
                           {.fd = urgent[REAPER], .events = POLLIN},
                           {.fd = urgent[LOOKUPS], .events = POLLIN}};
    int64_t until_us = now_us() + AT_MOST_US;
    for (int i = 1; i <= AT_MOST && !trace_full(); i++) {
        if (fds[0].revents & POLLIN)
            answer_one(plan);
        if (i % BETWEEN_LOOKS == 0 && now_us() >= until_us)
            return;
        if (poll(fds, sizeof fds / sizeof *fds, 1) <= 0 || fds[1].revents || (fds[0].revents & ~POLLIN))
            return;
        if (fds[2].revents)
            fuse_root_answer();
        fds[2].fd = fuse_root_fd();
    }
}

void notifications_answer(const struct plan *plan, short events, const int urgent[URGENT]) {
    if (events & POLLIN) {
        answer_run(plan, urgent);
    } else if (events) {
        close(listener); /* no task with the filter is left */
        listener = -1;
    }
}
