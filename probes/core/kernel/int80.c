/* Calls can be made through the 32-bit gate, where numbers mean other calls. */
#define CAPABILITY "kernel_int80"
#include "_runner_c.h"

#include <unistd.h>

static void call(void) {
#ifdef __x86_64__
    int result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "r8", "r9", "r10", "r11", "memory");
    if (result != getpid())
        blocked_with(-result, "getpid through int 0x80");
    allowed("getpid through int 0x80 answers");
#else
    unavailable("this architecture has no 32-bit gate");
#endif
}

static void exercise(void) {
    in_child(call);
}

PROBE(exercise)
