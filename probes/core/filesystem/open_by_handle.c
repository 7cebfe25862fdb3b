/* A file can be opened by handle, bypassing paths and mounts (open_by_handle_at). */
#define CAPABILITY "filesystem_open_by_handle"
#include "_runner_c.h"

#include <fcntl.h>

static void exercise(void) {
    struct {
        struct file_handle head;
        unsigned char inode_and_generation[8];
    } handle = {.head = {.handle_bytes = 8, .handle_type = 1}}; /* of inode 0, which is none */
    int usr = open("/usr", O_RDONLY | O_DIRECTORY);
    if (usr < 0)
        faulty("open /usr");
    if (open_by_handle_at(usr, &handle.head, O_RDONLY) >= 0 || errno == ESTALE || errno == EINVAL)
        allowed("the handle was looked up: the right to it was there");
    blocked("open_by_handle_at");
}

PROBE(exercise)
