/* The end of a run, as reported to the caller. */
#ifndef WARDIAN_ENDING_H
#define WARDIAN_ENDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

struct ending {
    bool reaped;        /* false: something hangs in the kernel */
    bool exited;        /* the guest's own end was reported */
    bool starved;       /* the kernel killed a process of it for memory */
    bool overran;       /* it wrote more than its limit, and ended before we ended it */
    const char *reason; /* why we ended it; NULL: we did not */
    int status, exec_error;
    int64_t wall_us;
    uint64_t tasks, output_limit;
    int not_copied; /* shares that could not be copies, and were read-only */
    struct rusage usage;
};

/* The last line of a run, or of one command in a living sandbox. */
struct ended {
    const char *reason;
    int code, signal, exec_error;
    int64_t wall_us, user_us, system_us;
    uint64_t peak_bytes, tasks, stream_bytes[3];
    bool output_exceeded;
    int not_copied;
};
void emit_ended(const struct ended *end);
void report_end(const struct ending *end);

#endif
