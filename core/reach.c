/* Which places a confined guest may use: what the plan's Landlock rules say, asked by path.
 *
 * Whoever acts for the guest (deputy.c) asks about what it has open: the kernel's own name of that, which
 * no link and no rename can make lie about where it stood at that moment. */
#define _GNU_SOURCE
#include "fortify.h"
#include "reach.h"
#include "predict.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Landlock's rights, as landlock.py has them. */
#define EXECUTE (1ULL << 0)
#define WRITE_FILE (1ULL << 1)
#define READ_FILE (1ULL << 2)
#define READ_DIR (1ULL << 3)
#define MAKING_FILES (1ULL << 8) /* only places that may be written to have it */

static struct place {
    const char *path;
    size_t len;
    uint64_t access;
} places[MAX_RULES];
static size_t place_count;

void reach_remember(const struct plan *plan) {
    size_t room = 1;
    for (size_t i = 0; i < plan->rule_count; i++)
        room += strlen(plan->rules[i].path) + 1;
    char *text = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED)
        return; /* then nothing is in reach */
    for (size_t i = 0; i < plan->rule_count; i++) {
        size_t len = strlen(plan->rules[i].path);
        memcpy(text, plan->rules[i].path, len + 1);
        places[place_count++] = (struct place){text, len, plan->rules[i].access};
        text += len + 1;
    }
}

bool reach_known(void) { return place_count > 0; }

static bool lies_in(const struct place *place, const char *path) {
    return strnlen(path, place->len) == place->len && memcmp(path, place->path, place->len) == 0 &&
           (path[place->len] == '/' || path[place->len] == '\0');
}

static uint64_t access_to(const char *path) {
    uint64_t access = 0;
    for (size_t i = 0; i < place_count; i++)
        if (lies_in(&places[i], path))
            access |= places[i].access;
    return access;
}

bool reach_name(int fd, char path[PATH_MAX]) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlinkat(AT_FDCWD, link, path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = '\0';
    return n > 0 && path[0] == '/';
}

static bool grants(int fd, uint64_t needed) {
    char path[PATH_MAX];
    return reach_name(fd, path) && (access_to(path) & needed) == needed;
}

bool reach_may_change(int fd) { return grants(fd, MAKING_FILES); }

bool reach_may_read(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && grants(fd, S_ISDIR(st.st_mode) ? READ_DIR : READ_FILE);
}

bool reach_is_named(int fd) {
    char path[PATH_MAX];
    if (!reach_name(fd, path))
        return false;
    for (size_t i = 0; i < place_count; i++)
        if (strcmp(places[i].path, path) == 0 || ((places[i].access & MAKING_FILES) && lies_in(&places[i], path)))
            return true;
    return false;
}

/* Where the path leads, or would be made. */
static bool find(const char *path, bool follow, char found[PATH_MAX], bool *there) {
    const char *slash = strrchr(path, '/');
    char parent[PATH_MAX];
    int fd = open(path, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
    *there = fd >= 0;
    if (fd < 0 && errno == ENOENT && slash) {
        size_t len = slash == path ? 1 : (size_t)(slash - path);
        memcpy(parent, path, len);
        parent[len] = '\0';
        fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    if (fd < 0)
        return false;
    bool known = reach_name(fd, found);
    close(fd);
    return known;
}

enum hindrance reach_hindrance(const struct call *call, const struct watched *w, enum watch_kind kind, const char *path, bool follow) {
    char found[PATH_MAX];
    bool there, changes = kind != WATCH_LOOK && kind != WATCH_EXEC && (kind != WATCH_OPEN || predict_writes(call, w));
    bool makes = kind == WATCH_MAKE || kind == WATCH_BIND || (kind == WATCH_OPEN && predict_makes(call, w));
    if (kind == WATCH_LOOK || !find(path, follow, found, &there))
        return UNHINDERED; /* what can be seen is not hidden by these rules */
    if (!there && !makes)
        return UNHINDERED; /* the host has none either */
    uint64_t access = access_to(found);
    uint64_t writing = MAKING_FILES | (kind == WATCH_OPEN && there ? WRITE_FILE : 0); /* a device is only opened */
    if (changes ? access & writing : access & (kind == WATCH_EXEC ? EXECUTE : READ_FILE | READ_DIR))
        return UNHINDERED;
    if (changes && access)
        return BY_READ_ONLY;
    return there ? BY_ABSENCE : BY_NO_PLACE;
}
