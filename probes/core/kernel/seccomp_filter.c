/* A program can put a syscall filter on itself, as browsers and servers do. */
#define CAPABILITY "kernel_seccomp_filter"
#include "_runner_c.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void confine(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpriority, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTNAM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        blocked("PR_SET_NO_NEW_PRIVS");
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        blocked("seccomp SECCOMP_SET_MODE_FILTER");
    if (syscall(SYS_getpriority, 0, 0) != -1 || errno != ENOTNAM)
        faulty("the filter does not hold");
    allowed("put a filter on itself, which holds");
}

static void exercise(void) {
    in_child(confine);
}

PROBE(exercise)
