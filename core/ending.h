/* The end of a run, as its caller is told. */
#ifndef WARDIAN_ENDING_H
#define WARDIAN_ENDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

struct ending {
    bool reaped;        /* false: something hangs in the kernel */
    bool exited;        /* the guest's own end was reported */
    bool starved;       /* the kernel killed a process of it for memory */
    bool overran;       /* it wrote more than it may, and ended before it was ended */
    const char *reason; /* why we ended it; NULL: nothing did */
    int status, exec_error;
    int64_t wall_us;
    uint64_t tasks, output_limit;
    int not_copied; /* shares that could not be copies, and were read-only */
    struct rusage usage;
};
void report_end(const struct ending *end);

#endif
