/* Process accounting can be turned on. Asked for a file that does not exist. */
#define CAPABILITY "kernel_accounting"
#include "_runner_c.h"

#include <unistd.h>

static void exercise(void) {
    if (acct("/nonexistent/accounting") == 0 || errno == ENOENT)
        allowed("acct looked for its file: the right to it was there");
    blocked("acct");
}

PROBE(exercise)
