/* get_thread_area: a segment of thread-local storage, as 32-bit programs read it. */
#define CAPABILITY "syscall_get_thread_area"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_get_thread_area
#include <asm/ldt.h>

CHECK(reads_a_segment) {
    struct user_desc segment = {.entry_number = 12, .limit = 0xfffff, .seg_32bit = 1};
    works(syscall(SYS_get_thread_area, &segment), "get_thread_area");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_get_thread_area, (void *)8), EFAULT, "a segment at 8");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no get_thread_area");
}
#endif

CHECKS
