/* Descriptors of whoever started the sandbox are open in it, besides the three standard ones. */
#define CAPABILITY "process_inherited_descriptors"
#include "_runner_c.h"

#include <fcntl.h>

static void exercise(void) {
    for (int fd = 3; fd < 4096; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            allowed("descriptor %d is open", fd);
    blocked_with(EBADF, "none of 3 to 4095 is open");
}

PROBE(exercise)
