/* The records of one command (records.c), read in the process that becomes it, so that malformed records
 * can't harm the reaper. Only arg, env, cwd and path are known. */
#define _GNU_SOURCE
#include "fortify.h"
#include "command.h"
#include "fail.h"
#include "plan.h"
#include "records.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_RECORDS = 16 << 20 };

static uint8_t *read_whole(int fd, size_t *len) {
    struct stat st;
    if (fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size > MAX_RECORDS)
        die(EINVAL, "command", "reading a command of this size");
    *len = (size_t)st.st_size;
    uint8_t *bytes = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        die(errno, "command", "making room for the command");
    for (size_t used = 0; used < *len;) {
        ssize_t n = pread(fd, bytes + used, *len - used, (off_t)used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            die(n < 0 ? errno : EINVAL, "command", "reading the command");
        used += (size_t)n;
    }
    return bytes;
}

static bool is(const struct record *r, const char *name) { return strcmp(r->fields[0].at, name) == 0; }

/* With nowhere to put them, they are only counted. */
static bool take(struct cursor cursor, struct plan *plan, size_t *args, size_t *envs) {
    struct record r;
    *args = *envs = 0;
    while (cursor.at < cursor.end) {
        if (!next_record(&cursor, &r) || r.count != 2 || !field_is_text(&r.fields[1]))
            return false;
        char *text = (char *)(uintptr_t)r.fields[1].at;
        if (is(&r, "arg")) {
            if (plan)
                plan->argv[*args] = text;
            ++*args;
        } else if (is(&r, "env")) {
            if (plan)
                plan->envp[*envs] = text;
            ++*envs;
        } else if (is(&r, "cwd") || is(&r, "path")) {
            if (plan)
                *(is(&r, "cwd") ? &plan->cwd : &plan->path) = text;
        } else {
            return false;
        }
    }
    return true;
}

void command_read(struct plan *plan, int fd) {
    size_t len, args, envs;
    uint8_t *bytes = read_whole(fd, &len);
    struct cursor cursor = {bytes, bytes + len};
    if (!take(cursor, NULL, &args, &envs) || args == 0)
        die(EINVAL, "command", "reading the command's records");
    char **vectors = mmap(NULL, (args + envs + 2) * sizeof *vectors, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (vectors == MAP_FAILED)
        die(errno, "command", "making room for the command");
    plan->argv = vectors;
    plan->envp = vectors + args + 1;
    plan->cwd = plan->path = NULL;
    take(cursor, plan, &args, &envs);
    if (!plan->cwd || !plan->path)
        die(EINVAL, "command", "reading the command's records");
}
