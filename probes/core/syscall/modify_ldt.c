/* modify_ldt: segments of the processor's, read and written. */
#define CAPABILITY "syscall_modify_ldt"
#include "_runner_c.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_modify_ldt
#include <asm/ldt.h>

/* The kernel answers with 32 bits, so that errors look like large numbers. */
static long modify(int what, void *at, unsigned long size) {
    long answer = syscall(SYS_modify_ldt, what, at, size);
    if (answer == -1 || (int)answer >= 0)
        return answer;
    errno = -(int)answer;
    return -1;
}

CHECK(gives_back_the_segment_that_was_written) {
    unsigned char table[64] = {0};
    struct user_desc segment = {.entry_number = 2, .limit = 0xfff, .seg_32bit = 1, .useable = 1};
    works(modify(1, &segment, sizeof segment), "modify_ldt to write");
    long size = works(modify(0, table, sizeof table), "modify_ldt to read");
    want(size >= 24 && table[16] == 0xff && table[17] == 0x0f, "%ld bytes, another limit", size);
}

CHECK(refuses_a_segment_of_another_size) {
    struct user_desc segment = {.entry_number = 0};
    refuses(modify(1, &segment, 4), EINVAL, "4 bytes");
}

CHECK(refuses_a_number_too_high) {
    struct user_desc segment = {.entry_number = 9000};
    refuses(modify(1, &segment, sizeof segment), EINVAL, "segment 9000");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no segment tables");
}
#endif

CHECKS
