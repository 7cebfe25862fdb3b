/* uprobe: code that the kernel inserts for a tracer calls it, and nobody else. */
#define CAPABILITY "syscall_uprobe"
#include "_runner_c.h"

#include <unistd.h>

#ifdef __x86_64__
CHECK(refuses_who_calls_it_by_hand) {
    refuses(syscall(336), ENXIO, "uprobe");
}

CHECK(takes_no_heed_of_arguments) {
    refuses(syscall(336, -1, 8, 0), ENXIO, "uprobe");
}
#else
CHECK(is_unknown_here) {
    unavailable("this architecture has no such call");
}
#endif

CHECKS
