/* set_thread_area: a segment of thread-local storage, as 32-bit programs set it. */
#define CAPABILITY "syscall_set_thread_area"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_set_thread_area
#include <asm/ldt.h>

CHECK(sets_a_segment) {
    struct user_desc segment = {.entry_number = -1u, .limit = 0xfffff, .seg_32bit = 1};
    works(syscall(SYS_set_thread_area, &segment), "set_thread_area");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_set_thread_area, (void *)8), EFAULT, "a segment at 8");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no set_thread_area");
}
#endif

CHECKS
