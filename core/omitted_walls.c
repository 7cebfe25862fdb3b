/* Only in a test build: the names of walls that a test can leave out. */
#include "fortify.h"
#include "omitted_walls.h"

#include <string.h>

#ifdef WARDIAN_TEST_WALLS
static const struct {
    const char *name;
    uint32_t wall;
} names[] = {
    {"without-seccomp", WALL_SECCOMP},     {"without-landlock", WALL_LANDLOCK},
    {"without-network", WALL_NETWORK},     {"without-pid", WALL_PID},
    {"without-ipc", WALL_IPC},             {"without-uts", WALL_UTS},
    {"without-cgroup", WALL_CGROUP},       {"without-pivot", WALL_PIVOT},
    {"without-rlimits", WALL_RLIMITS},     {"without-watch", WALL_WATCH},
    {"without-readonly", WALL_READONLY},   {"without-nosuid", WALL_NOSUID},
    {"without-close", WALL_CLOSE},         {"without-identity", WALL_IDENTITY},
    {"without-capabilities", WALL_CAPABILITIES}, {"without-mask", WALL_MASK},
    {"without-sysctl", WALL_SYSCTL},       {"without-dumpable", WALL_DUMPABLE},
    {"without-session", WALL_SESSION},     {"without-death", WALL_DEATH},
    {"without-control-groups", WALL_CONTROL}, {"without-tags", WALL_TAGS},
    {"without-deputy", WALL_DEPUTY},
};

uint32_t wall_named(const char *name) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i].name) == 0)
            return names[i].wall;
    return 0;
}
#endif
