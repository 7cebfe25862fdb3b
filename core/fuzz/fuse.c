/* Answering for the guest's root: the requests come from the kernel, the names in them from the
 * guest. Every answer is as long as it says, and fits what was asked for. */
#include "fuzz.h"

#include "../hash.h"

#include <linux/fuse.h>
#include <sys/stat.h>

static const uint8_t *request;
static size_t request_len;

static ssize_t fake_read(int fd, void *to, size_t room) {
    (void)fd;
    size_t len = request_len < room ? request_len : room;
    memcpy(to, request, len);
    return (ssize_t)len;
}

static ssize_t fake_write(int fd, const void *from, size_t len) {
    (void)fd;
    const struct fuse_out_header *out = from;
    HOLDS(len >= sizeof *out && out->len == len && out->error <= 0);
    uint32_t sum = hash_bytes(HASH_START, from, len); /* reads all of it */
    return sum == 1 ? -1 : (ssize_t)len;
}

#define read fake_read
#define write fake_write
#include "../fuse_root.c"
#undef read
#undef write

static void shape_once(struct plan *plan) {
    static struct step steps[] = {
        {.kind = STEP_SYMLINK, .path = "/lib", .text = "usr/lib", .text_len = 7, .fd = -1},
        {.kind = STEP_DIR, .path = "/etc", .fd = -1},
        {.kind = STEP_PRIVATE, .path = "/tmp", .fd = -1},
        {.kind = STEP_PROC, .path = "/proc", .fd = -1},
        {.kind = STEP_DIR, .path = "/home/user", .fd = -1},
    };
    plan->steps = steps;
    plan->step_count = sizeof steps / sizeof *steps;
    plan->lookups = true;
    fuse_root_prepare(plan);
    HOLDS(fuse_root_shape(plan));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct plan plan;
    if (!shape)
        shape_once(&plan);
    for (size_t at = 0; at + 2 <= size;) { /* several requests: a length, then its bytes */
        size_t len = (size_t)data[at] | (size_t)data[at + 1] << 8;
        at += 2;
        if (len > size - at)
            len = size - at;
        request = data + at;
        request_len = len;
        device = 100; /* not open: a close of it harms nobody */
        running = len & 1;
        fuse_root_answer();
        at += len;
    }
    device = -1;
    return 0;
}
