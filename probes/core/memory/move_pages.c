/* Pages can be moved among the host's nodes, or asked where they lie (move_pages). */
#define CAPABILITY "memory_move_pages"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    int status, here = 0;
    void *page = (void *)((unsigned long)&here & ~4095UL);
    if (syscall(SYS_move_pages, 0, 1, &page, (void *)0, &status, 0) < 0)
        blocked("move_pages");
    allowed("learned the node of a page");
}

PROBE(exercise)
