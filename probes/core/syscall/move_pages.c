/* move_pages: where pages lie, and moving them between NUMA nodes. */
#define CAPABILITY "syscall_move_pages"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static int status = -1000;
static void *pages[1] = {&status};

CHECK(reports_where_a_page_lies) {
    works(syscall(SYS_move_pages, 0, 1, pages, NULL, &status, 0), "move_pages");
    want(status >= 0 && status < 1024, "node %d", status);
}

CHECK(reports_a_page_that_is_not_there) {
    pages[0] = (void *)4096;
    works(syscall(SYS_move_pages, 0, 1, pages, NULL, &status, 0), "move_pages");
    want(status == -EFAULT || status == -ENOENT, "status %d", status);
}

CHECK(refuses_a_process_that_is_not_there) {
    refuses(syscall(SYS_move_pages, 0x7ffffffe, 1, pages, NULL, &status, 0), ESRCH, "of nobody");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_move_pages, 0, 1, pages, NULL, &status, 64), EINVAL, "flag 64");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_move_pages, 0, 1, pages, NULL, (void *)8, 0), EFAULT, "an answer at 8");
}

CHECKS
