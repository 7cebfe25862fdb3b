/* A program can catch its own memory faults, on a stack of its own (sigaltstack). */
#define CAPABILITY "memory_fault_handler"
#include "_runner_c.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

static sigjmp_buf back;

static void caught(int signal) {
    siglongjmp(back, signal);
}

static void exercise(void) {
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    struct sigaction action = {.sa_handler = caught, .sa_flags = SA_ONSTACK};
    volatile char *guard = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sigaltstack(&stack, NULL) < 0 || sigaction(SIGSEGV, &action, NULL) < 0)
        blocked("sigaltstack");
    if (sigsetjmp(back, 1) == 0) {
        *guard = 1;
        faulty("a guard page could be written");
    }
    allowed("caught SIGSEGV");
}

PROBE(exercise)
