/* ptrace: another process held, read, changed and let go. */
#define CAPABILITY "syscall_ptrace"
#include "_runner_c.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long word = 4242;

static long trace(int request, pid_t pid, const volatile void *address, unsigned long data) {
    return syscall(SYS_ptrace, request, pid, address, data);
}

static void asks_to_be_traced(void) {
    if (trace(PTRACE_TRACEME, 0, NULL, 0) < 0)
        _exit(errno);
    raise(SIGSTOP);
    _exit(word == 77 ? 7 : 1);
}

static void stops(pid_t pid, int signal) {
    int status;
    want(waitpid(pid, &status, 0) == pid, "waitpid");
    if (WIFEXITED(status))
        blocked_with(WEXITSTATUS(status), "the child's PTRACE_TRACEME");
    want(WIFSTOPPED(status) && WSTOPSIG(status) == signal, "status is %#x", status);
}

CHECK(reads_and_changes_a_childs_memory) {
    pid_t child = child_that(asks_to_be_traced);
    stops(child, SIGSTOP);
    long read = 0;
    works(trace(PTRACE_PEEKDATA, child, &word, (unsigned long)&read), "PTRACE_PEEKDATA");
    want(read == 4242, "read %ld", read);
    works(trace(PTRACE_POKEDATA, child, &word, 77), "PTRACE_POKEDATA");
    works(trace(PTRACE_CONT, child, NULL, 0), "PTRACE_CONT");
    want(WEXITSTATUS(end_of(child)) == 7, "the child did not see the change");
}

CHECK(holds_a_child_and_lets_it_go) {
    pid_t child = child_that(waits);
    works(trace(PTRACE_SEIZE, child, NULL, 0), "PTRACE_SEIZE");
    works(trace(PTRACE_INTERRUPT, child, NULL, 0), "PTRACE_INTERRUPT");
    stops(child, SIGTRAP);
    works(trace(PTRACE_DETACH, child, NULL, 0), "PTRACE_DETACH");
}

CHECK(refuses_an_unknown_request) {
    pid_t child = child_that(asks_to_be_traced);
    stops(child, SIGSTOP);
    refuses(trace(0x7fff, child, NULL, 0), EIO, "request 0x7fff");
}

CHECK(refuses_nobody) {
    refuses(trace(PTRACE_CONT, 0x7ffffff0, NULL, 0), ESRCH, "nobody");
}

CHECK(refuses_who_is_not_held) {
    refuses(trace(PTRACE_CONT, child_that(waits), NULL, 0), ESRCH, "a free child");
}

CHECKS
