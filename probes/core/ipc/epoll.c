/* Many descriptors can be waited for at once (epoll). */
#define CAPABILITY "ipc_epoll"
#include "_runner_c.h"

#include <sys/epoll.h>
#include <unistd.h>

static void exercise(void) {
    int ends[2], set = epoll_create1(EPOLL_CLOEXEC);
    if (set < 0 || pipe(ends) < 0)
        blocked("epoll_create1");
    struct epoll_event readable = {.events = EPOLLIN, .data.fd = ends[0]}, got;
    if (epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &readable) < 0)
        blocked("epoll_ctl");
    if (write(ends[1], "x", 1) != 1 || epoll_wait(set, &got, 1, 5000) != 1)
        blocked("epoll_wait");
    allowed("epoll reported a readable pipe");
}

PROBE(exercise)
