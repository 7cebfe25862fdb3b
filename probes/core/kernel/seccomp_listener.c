/* A process can receive its children's system calls through its own listener (SECCOMP_RET_USER_NOTIF). */
#define CAPABILITY "kernel_seccomp_listener"
#include "_runner_c.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {1, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        blocked("PR_SET_NO_NEW_PRIVS");
    long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                      &program);
    if (fd < 0)
        blocked("a listener");
    allowed("a listener on descriptor %ld", fd);
}

PROBE(exercise)
