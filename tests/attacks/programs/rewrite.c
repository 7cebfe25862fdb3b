/* rewrite entry|seccomp|suspend|attach PID: a tracer's ways past a filter. The first three have a child
 * make a harmless call of which its tracer makes kcmp, which is refused; the last traces another process. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HARMLESS = SYS_getpriority, REFUSED = SYS_kcmp, SUSPEND = 1 << 21, KCMP_VM = 1 };

static int rewrite(pid_t child) {
    struct user_regs_struct regs;
    struct iovec all = {&regs, sizeof regs};
    if (ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &all) < 0)
        return -1;
#if defined(__x86_64__)
    if (regs.orig_rax != HARMLESS)
        return 0;
    regs.orig_rax = REFUSED;
    return ptrace(PTRACE_SETREGSET, child, NT_PRSTATUS, &all) < 0 ? -1 : 1;
#else
    int number = REFUSED;
    struct iovec call = {&number, sizeof number};
    if (regs.regs[8] != HARMLESS)
        return 0;
    return ptrace(PTRACE_SETREGSET, child, 0x404 /* NT_ARM_SYSTEM_CALL */, &call) < 0 ? -1 : 1;
#endif
}

/* Filters of the guest's own may hand a call to its tracer, seccomp(2). */
static void hand_to_tracer(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HARMLESS, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        _exit(3);
}

static void be_traced(const char *way) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    if (strcmp(way, "seccomp") == 0)
        hand_to_tracer();
    long self = getpid(), number = strcmp(way, "suspend") == 0 ? REFUSED : HARMLESS;
    errno = 0;
    long result = syscall(number, self, self, (long)KCMP_VM, 0L, 0L);
    if (result == 0 && errno == 0)
        puts("through");
    else
        printf("refused with %d\n", errno);
    exit(0);
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IONBF, 0);
    if (strcmp(way, "attach") == 0) {
        pid_t pid = argc > 2 ? atoi(argv[2]) : 0;
        puts(ptrace(PTRACE_SEIZE, pid, 0, 0) == 0 ? "attached" : strerror(errno));
        return 0;
    }
    pid_t child = fork();
    int status, rewritten = 0;
    if (child == 0)
        be_traced(way);
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
        puts("not traced");
        return 1;
    }
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;
    if (strcmp(way, "suspend") == 0 && ptrace(PTRACE_SETOPTIONS, child, 0, SUSPEND) == 0)
        puts("suspended");
    ptrace(PTRACE_SETOPTIONS, child, 0, options);
    int step = strcmp(way, "entry") == 0 ? PTRACE_SYSCALL : PTRACE_CONT;
    while (ptrace(step, child, 0, 0) == 0 && waitpid(child, &status, 0) == child && WIFSTOPPED(status))
        if (!rewritten)
            rewritten = rewrite(child) == 1;
    printf("%s\n", rewritten ? "rewritten" : "not rewritten");
    return 0;
}
