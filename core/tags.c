/* Identifies the commands of a living sandbox by a number that every process inherits and none can change:
 * the hard limit on file locks (RLIMIT_LOCKS), which the kernel has not used since Linux 2.4, getrlimit(2). A
 * session, a process group or a parent would not do: setsid and a second fork leave them behind. A hard limit
 * can only be lowered, and a small filter of the command's own refuses that. The same filter keeps a process
 * from changing the limits of others, above all the reaper's. */
#define _GNU_SOURCE
#include "fortify.h"
#include "tags.h"
#include "directory.h"
#include "fail.h"
#include "numbers.h"
#include "omitted_walls.h"
#include "tasks.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NO_COMMAND (UINT64_C(1) << 62) /* a command's limit is this minus its number */

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#else
#define NATIVE 0
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOAD_HIGH(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field) + 4)
#define IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define REFUSE ANSWER(SECCOMP_RET_ERRNO | EPERM)
#define REFUSE_IF(call, arg, value) LOAD(nr), IF(call, 0, 3), LOAD(args[arg]), IF(value, 0, 1), REFUSE

enum { REAPER = 1, OF_USER = 2, IO_OF_USER = 3 }; /* setpriority(2), ioprio_set(2) */

/* Refused: setting this one limit, setting any limit of another process, and changing how the reaper is
 * scheduled, which later commands would inherit: it is a process of the same user. */
static struct sock_filter program[] = {
    LOAD(arch),
    IF(NATIVE, 1, 0), /* the main filter refuses all others */
    ANSWER(SECCOMP_RET_ALLOW),
    REFUSE_IF(SYS_setrlimit, 0, RLIMIT_LOCKS),
    REFUSE_IF(SYS_setpriority, 0, OF_USER),
    REFUSE_IF(SYS_setpriority, 1, REAPER), /* it leads its group as well */
    REFUSE_IF(SYS_ioprio_set, 0, IO_OF_USER),
    REFUSE_IF(SYS_ioprio_set, 1, REAPER),
    REFUSE_IF(SYS_sched_setparam, 0, REAPER),
    REFUSE_IF(SYS_sched_setscheduler, 0, REAPER),
    REFUSE_IF(SYS_sched_setattr, 0, REAPER),
    REFUSE_IF(SYS_sched_setaffinity, 0, REAPER),
    LOAD(nr),
    IF(SYS_prlimit64, 0, 8),
    LOAD(args[2]), /* the new limit's address: none is set without one */
    IF(0, 0, 2),
    LOAD_HIGH(args[2]),
    IF(0, 4, 0),
    LOAD(args[0]), /* 0: one's own */
    IF(0, 0, 3),
    LOAD(args[1]),
    IF(RLIMIT_LOCKS, 1, 0),
    ANSWER(SECCOMP_RET_ALLOW),
    REFUSE,
};

void tag_self(const struct plan *plan, uint64_t command) {
    const struct rlimit tag = {NO_COMMAND - command, NO_COMMAND - command};
    if (setrlimit(RLIMIT_LOCKS, &tag) < 0)
        die(errno, "limits", "marking the processes of a command");
    if (!WALL_IS_UP(plan, WALL_TAGS))
        return;
    const struct sock_fprog kept = {.len = sizeof program / sizeof *program, .filter = program};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &kept) < 0)
        die(errno, "seccomp", "keeping the mark of a command's processes");
}

/* "Max file locks   SOFT   HARD   locks": the hard one; a process can lower the soft one itself. */
static uint64_t tag_in(const char *limits) {
    uint64_t value = number_after(limits, "\nMax file locks", true);
    return value && value < NO_COMMAND ? NO_COMMAND - value : 0;
}

uint64_t tag_of(pid_t task) {
    char text[4096];
    return task_read(task, "limits", text, sizeof text) > 0 ? tag_in(text) : 0;
}

uint64_t tag_below(int proc, const char *pid) {
    char text[4096];
    return read_below(proc, pid, "limits", text, sizeof text) > 0 ? tag_in(text) : 0;
}
