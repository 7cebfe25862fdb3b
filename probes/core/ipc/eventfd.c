/* Threads and processes can wake each other through a counter (eventfd). */
#define CAPABILITY "ipc_eventfd"
#include "_runner_c.h"

#include <sys/eventfd.h>

static void exercise(void) {
    eventfd_t value;
    int counter = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (counter < 0)
        blocked("eventfd");
    if (eventfd_write(counter, 42) < 0 || eventfd_read(counter, &value) < 0)
        blocked("eventfd_write, eventfd_read");
    if (value != 42)
        faulty("another value came back");
    allowed("counted 42");
}

PROBE(exercise)
