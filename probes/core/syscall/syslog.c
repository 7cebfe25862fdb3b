/* syslog: the size of the kernel's log, and what is asked wrongly of it. */
#define CAPABILITY "syscall_syslog"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

CHECK(reports_the_size_of_the_log) {
    want(works(syscall(SYS_syslog, 10, NULL, 0), "syslog, its size") > 0, "it has none");
}

CHECK(reads_the_log) {
    char bytes[512];
    works(syscall(SYS_syslog, 3, bytes, sizeof bytes), "syslog, its end");
}

CHECK(refuses_to_read_to_nowhere) {
    refuses(syscall(SYS_syslog, 3, NULL, 512), EINVAL, "to NULL");
}

CHECK(refuses_unknown_actions) {
    refuses(syscall(SYS_syslog, 99, NULL, 0), EINVAL, "action 99");
}

CHECKS
