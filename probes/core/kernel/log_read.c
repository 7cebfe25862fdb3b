/* The kernel's log can be read (syslog). */
#define CAPABILITY "kernel_log_read"
#include "_runner_c.h"

#include <sys/klog.h>

static void exercise(void) {
    char text[256];
    if (klogctl(3, text, sizeof text) < 0) /* SYSLOG_ACTION_READ_ALL takes nothing away */
        blocked("syslog SYSLOG_ACTION_READ_ALL");
    allowed("read the kernel's log");
}

PROBE(exercise)
