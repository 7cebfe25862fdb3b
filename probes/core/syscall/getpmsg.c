/* getpmsg: a number kept for STREAMS, which Linux never had. */
#define CAPABILITY "syscall_getpmsg"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_getpmsg
CHECK(gives_a_message) {
    works(syscall(SYS_getpmsg, -1, NULL, NULL, NULL, NULL), "getpmsg");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no getpmsg");
}
#endif

CHECKS
