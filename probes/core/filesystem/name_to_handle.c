/* A file can be named without its path (name_to_handle_at). */
#define CAPABILITY "filesystem_name_to_handle"
#include "_runner_c.h"

#include <fcntl.h>

static void exercise(void) {
    struct {
        struct file_handle head;
        unsigned char room[MAX_HANDLE_SZ];
    } handle = {.head.handle_bytes = MAX_HANDLE_SZ};
    int mount;
    if (name_to_handle_at(AT_FDCWD, "/usr", &handle.head, &mount, 0) < 0)
        blocked("name_to_handle_at /usr");
    allowed("got a handle for /usr");
}

PROBE(exercise)
