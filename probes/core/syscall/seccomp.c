/* seccomp: filters that a process puts on itself. */
#define CAPABILITY "syscall_seccomp"
#include "_runner_c.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long filter(unsigned flags, int call, unsigned answer) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    works(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

CHECK(answers_a_call_with_an_error) {
    works(filter(0, SYS_getppid, SECCOMP_RET_ERRNO | ENOLCK), "the filter");
    refuses(syscall(SYS_getppid), ENOLCK, "getppid");
    works(syscall(SYS_getpid), "getpid");
}

CHECK(takes_the_sternest_of_two_filters) {
    works(filter(0, SYS_getppid, SECCOMP_RET_ERRNO | ENOLCK), "the filter");
    works(filter(0, SYS_getppid, SECCOMP_RET_ALLOW), "a second filter");
    refuses(syscall(SYS_getppid), ENOLCK, "getppid");
}

static volatile int heard;

static void hear(int signal, siginfo_t *info, void *context) {
    (void)context;
    heard = signal == SIGSYS && info->si_syscall == SYS_getppid ? (int)info->si_errno : -1;
}

CHECK(answers_with_a_signal) {
    struct sigaction action = {.sa_sigaction = hear, .sa_flags = SA_SIGINFO};
    works(sigaction(SIGSYS, &action, NULL), "sigaction");
    works(filter(0, SYS_getppid, SECCOMP_RET_TRAP | 55), "the filter");
    syscall(SYS_getppid);
    want(heard == 55, "heard %d", heard);
}

static void is_killed(void) {
    prctl(PR_SET_DUMPABLE, 0);
    works(filter(0, SYS_getppid, SECCOMP_RET_KILL_PROCESS), "the filter");
    syscall(SYS_getppid);
}

CHECK(kills_the_process) {
    int status = end_of(child_that(is_killed));
    want(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "status is %#x", status);
}

static void asks(void) {
    _exit(syscall(SYS_getppid) == -1 && errno == ENOLCK ? 0 : 1);
}

CHECK(is_inherited) {
    works(filter(0, SYS_getppid, SECCOMP_RET_ERRNO | ENOLCK), "the filter");
    want(end_of(child_that(asks)) == 0, "the child is free of it");
}

static volatile int stage;

static void *ask_when_told(void *answer) {
    while (stage == 0)
        rest();
    *(int *)answer = syscall(SYS_getppid) == -1 ? errno : 0;
    return NULL;
}

/* What another thread is answered after a filter with these flags. */
static int answer_in_a_thread(unsigned flags) {
    pthread_t thread;
    int answer = -1;
    want(pthread_create(&thread, NULL, ask_when_told, &answer) == 0, "no thread");
    works(filter(flags, SYS_getppid, SECCOMP_RET_ERRNO | ENOLCK), "the filter");
    stage = 1;
    pthread_join(thread, NULL);
    return answer;
}

CHECK(confines_one_thread_only) {
    want(answer_in_a_thread(0) == 0, "the other is confined, too");
}

CHECK(confines_all_threads_if_asked) {
    want(answer_in_a_thread(SECCOMP_FILTER_FLAG_TSYNC) == ENOLCK, "the other is free");
}

CHECK(reports_which_answers_there_are) {
    unsigned action = SECCOMP_RET_ERRNO;
    works(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action), "SECCOMP_RET_ERRNO");
    action = 0x12340000;
    refuses(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action), EOPNOTSUPP, "an unknown");
}

CHECK(reports_the_sizes_for_a_listener) {
    struct seccomp_notif_sizes sizes = {0, 0, 0};
    works(syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes), "SECCOMP_GET_NOTIF_SIZES");
    want(sizes.seccomp_notif >= sizeof(struct seccomp_notif), "%u bytes", sizes.seccomp_notif);
}

static void is_strict(void) {
    works(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL), "SECCOMP_SET_MODE_STRICT");
    syscall(SYS_getppid);
}

CHECK(confines_to_four_calls) {
    if (prctl(PR_GET_SECCOMP) > 0)
        unavailable("who is under a filter already can't be");
    int status = end_of(child_that(is_strict));
    want(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status is %#x", status);
}

CHECK(refuses_a_program_that_does_not_end) {
    struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};
    struct sock_fprog program = {1, code};
    works(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
    refuses(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program), EINVAL, "no return");
}

CHECK(refuses_an_empty_program) {
    struct sock_fprog program = {0, NULL};
    works(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
    refuses(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program), EINVAL, "no code");
}

CHECK(refuses_unknown_flags_and_operations) {
    refuses(filter(1U << 31, SYS_getppid, SECCOMP_RET_ALLOW), EINVAL, "flag 31");
    refuses(syscall(SYS_seccomp, 99, 0, NULL), EINVAL, "operation 99");
}

CHECK(refuses_a_bad_address) {
    works(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
    refuses(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, 8), EFAULT, "address 8");
}

CHECKS
