/* Listing directories without a C library's help. */
#define _GNU_SOURCE
#include "fortify.h"
#include "directory.h"
#include "monotonic.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void each_until(int dir, visit *each, void *context, int64_t until_us) {
    struct entry {
        uint64_t inode, offset;
        uint16_t length;
        uint8_t type;
        char name[];
    };
    union {
        char bytes[8192];
        struct entry align;
    } room;
    long got;
    lseek(dir, 0, SEEK_SET);
    while (now_us() < until_us && (got = syscall(SYS_getdents64, dir, room.bytes, sizeof room.bytes)) > 0) {
        for (long at = 0; at < got;) {
            const struct entry *entry = (const struct entry *)(room.bytes + at);
            if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0)
                each(entry->name, context);
            at += entry->length;
        }
    }
}

void each_entry(int dir, visit *each, void *context) { each_until(dir, each, context, INT64_MAX); }

struct only_numbers {
    visit *each;
    void *context;
};

static void pass_numbers(const char *name, void *context) {
    const struct only_numbers *numbers = context;
    if (*name >= '0' && *name <= '9')
        numbers->each(name, numbers->context);
}

void each_number_until(int dir, visit *each, void *context, int64_t until_us) {
    struct only_numbers numbers = {each, context};
    each_until(dir, pass_numbers, &numbers, until_us);
}

void each_number(int dir, visit *each, void *context) { each_number_until(dir, each, context, INT64_MAX); }

ssize_t read_below(int dir, const char *entry, const char *name, char *text, size_t size) {
    char path[96];
    snprintf(path, sizeof path, "%s/%s", entry, name);
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n;
}
