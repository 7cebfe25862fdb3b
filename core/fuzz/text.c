/* Text that is not ours: what /proc says of the guest's tasks and sockets, numbers, and names that
 * are escaped for people. */
#include "fuzz.h"

#include <sys/stat.h>

static const char *file;

static ssize_t fake_task_read(pid_t task, const char *name, char *to, size_t size) {
    (void)task;
    (void)name;
    size_t len = strlen(file);
    if (len > size - 1)
        len = size - 1;
    memcpy(to, file, len);
    to[len] = '\0';
    return (ssize_t)len;
}

static int fake_open(const char *path, int flags) {
    (void)path;
    (void)flags;
    return 100;
}

static ssize_t fake_read(int fd, void *to, size_t size) {
    (void)fd;
    size_t len = strlen(file);
    if (len > size)
        len = size;
    memcpy(to, file, len);
    return (ssize_t)len;
}

static int no_wait(int ms) { return ms; }

#include <poll.h>
#define poll(fds, n, ms) no_wait(ms)
#define task_read fake_task_read
#include "../current_call.c"
#include "../processes.c"
#undef task_read
#undef poll
#define open fake_open
#define read fake_read
#define close(fd) ((void)(fd))
#include "../identity.c"
#include "../ports.c"
#include "../predict.c"
#undef open
#undef read
#undef close

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1), *label = malloc(8);
    memcpy(text, data, size);
    text[size] = '\0';
    memcpy(label, text, size < 7 ? size + 1 : 7);
    label[7] = '\0';
    file = text;
    uint64_t value = 0;
    const char *after = next_number(text, &value);
    HOLDS(!after || (after > text && after <= text + size));
    value += number_after(text, label, false) + number_after(text, label, true);
    value += kilobytes_after(text, "VmData:");
    value += find_port(text, (unsigned)(size * 257) & 0xffff);
    struct call call = {.task = 1};
    value += read_current_call(&call) && call.number >= 0 && call.number < MAX_SYSCALL;
    value += has_terminal(1);
    value += id_is_mapped("", (unsigned)value);
    process_count = 0;
    commands_used = 0;
    value += (uint64_t)process_of(1);
    size_t room = value % 64 + 8;
    char *out = malloc(room);
    HOLDS(json_escape(out, room, text, size) < room);
    for (const char *c = out; *c; c++)
        HOLDS(*c >= 0x20 && *c < 0x7f);
    free(out);
    free(label);
    free(text);
    return 0;
}
