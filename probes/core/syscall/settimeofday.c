/* settimeofday: asked with times that are none, and for nothing. */
#define CAPABILITY "syscall_settimeofday"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

CHECK(refuses_a_time_that_is_none) {
    struct timeval bad = {0, 2000000};
    refuses(syscall(SYS_settimeofday, &bad, NULL), EINVAL, "2*10^6 us");
}

CHECK(sets_nothing_if_asked_for_nothing) {
    works(syscall(SYS_settimeofday, NULL, NULL), "settimeofday");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_settimeofday, (void *)8, NULL), EFAULT, "a time at 8");
}

CHECKS
