/* putpmsg: a number kept for STREAMS, which Linux never had. */
#define CAPABILITY "syscall_putpmsg"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_putpmsg
CHECK(takes_a_message) {
    works(syscall(SYS_putpmsg, -1, NULL, NULL, 0, 0), "putpmsg");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no putpmsg");
}
#endif

CHECKS
