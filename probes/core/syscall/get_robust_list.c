/* get_robust_list: the list of a thread's locks. */
#define CAPABILITY "syscall_get_robust_list"
#include "_runner_c.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct robust_list_head head, *current;
static size_t size;

CHECK(reports_what_was_set) {
    works(syscall(SYS_set_robust_list, &head, sizeof head), "set_robust_list");
    works(syscall(SYS_get_robust_list, 0, &current, &size), "get_robust_list");
    want(current == &head, "another list");
    want(size == sizeof head, "the size is %zu", size);
}

CHECK(knows_the_caller_by_its_number) {
    works(syscall(SYS_set_robust_list, &head, sizeof head), "set_robust_list");
    works(syscall(SYS_get_robust_list, gettid(), &current, &size), "get_robust_list");
    want(current == &head, "another list");
}

CHECK(refuses_nobody) {
    refuses(syscall(SYS_get_robust_list, 0x7ffffff0, &current, &size), ESRCH, "nobody");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_get_robust_list, 0, 8, &size), EFAULT, "the list to address 8");
    refuses(syscall(SYS_get_robust_list, 0, &current, 8), EFAULT, "the size to address 8");
}

CHECKS
