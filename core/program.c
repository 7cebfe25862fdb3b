/* The program that the guest becomes: found as execvpe(3) finds it, in the guest's own PATH. */
#define _GNU_SOURCE
#include "fortify.h"
#include "program.h"
#include "plan.h"

#include <errno.h>
#include <linux/limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where a part of the guest's PATH would have the program, or ""; returns where the next starts. */
static const char *program_in(const struct plan *plan, const char *part, char path[PATH_MAX]) {
    size_t len = strcspn(part, ":"), name_len = strlen(plan->argv[0]);
    if (len > 0 && len + name_len + 2 < PATH_MAX) {
        memcpy(path, part, len);
        path[len] = '/';
        memcpy(path + len + 1, plan->argv[0], name_len + 1);
    } else {
        path[0] = '\0';
    }
    return part + len + (part[len] == ':');
}

static bool named_by_path(const struct plan *plan) {
    return plan->argv[0][0] == '\0' || strchr(plan->argv[0], '/');
}

/* The supervisor can't read the launcher's memory, so a number in a register that the kernel ignores shows it
 * which program is tried. */
static void try_program(const struct plan *plan, const char *path, size_t part) {
    syscall(SYS_execve, path, plan->argv, plan->envp, TRIED | part);
}

bool program_tried(const struct plan *plan, uint64_t mark, char *path) {
    size_t part = mark & 0xffffffff;
    path[0] = '\0';
    if ((mark & ~0xffffffffULL) != TRIED || part > strlen(plan->path))
        return false;
    if (!named_by_path(plan))
        program_in(plan, plan->path + part, path);
    else if (plan->argv[0][0] == '/')
        snprintf(path, PATH_MAX, "%s", plan->argv[0]);
    else
        snprintf(path, PATH_MAX, "%s/%s", plan->cwd, plan->argv[0]);
    return path[0] == '/';
}

/* Like execvpe; remembers whether a file was found but could not be executed. */
static int exec_by_path(const struct plan *plan) {
    if (named_by_path(plan)) {
        try_program(plan, plan->argv[0], 0);
        return errno;
    }
    int error = ENOENT;
    for (const char *at = plan->path; *at;) {
        char path[PATH_MAX];
        const char *next = program_in(plan, at, path);
        if (path[0]) {
            try_program(plan, path, (size_t)(at - plan->path));
            if (errno != ENOENT && errno != ENOTDIR && (errno != EACCES || error == ENOENT))
                error = errno;
            if (errno == ENOEXEC || errno == E2BIG || errno == ENOMEM)
                break;
        }
        at = next;
    }
    return error;
}

/* ENOENT for a file that exists means that its interpreter does not. */
static int exec_error(const struct plan *plan, int error) {
    struct stat st;
    const char *name = plan->argv[0];
    if (error == EACCES && strchr(name, '/') && stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        return EISDIR;
    if (error == ENOENT && strchr(name, '/') && stat(name, &st) == 0)
        return ELIBBAD;
    return error;
}

int become_program(const struct plan *plan) { return exec_error(plan, exec_by_path(plan)); }
