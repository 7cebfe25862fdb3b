/* Walls that a test build can leave out, to show that each attack needs its wall. */
#ifndef WARDIAN_OMITTED_WALLS_H
#define WARDIAN_OMITTED_WALLS_H

#include <stdbool.h>
#include <stdint.h>

enum wall {
    WALL_SECCOMP = 1 << 0,
    WALL_LANDLOCK = 1 << 1,
    WALL_NETWORK = 1 << 2,
    WALL_PID = 1 << 3,
    WALL_IPC = 1 << 4,
    WALL_UTS = 1 << 5,
    WALL_CGROUP = 1 << 6,
    WALL_PIVOT = 1 << 7,
    WALL_RLIMITS = 1 << 8,
    WALL_WATCH = 1 << 9,
    WALL_READONLY = 1 << 10,
    WALL_NOSUID = 1 << 11,
    WALL_CLOSE = 1 << 12,
    WALL_IDENTITY = 1 << 13,
    WALL_CAPABILITIES = 1 << 14,
    WALL_MASK = 1 << 15,
    WALL_SYSCTL = 1 << 16,
    WALL_DUMPABLE = 1 << 17,
    WALL_SESSION = 1 << 18,
    WALL_DEATH = 1 << 19,
    WALL_CONTROL = 1 << 20,
    WALL_TAGS = 1 << 21,
    WALL_DEPUTY = 1 << 22,
};

#ifdef WARDIAN_TEST_WALLS
#define WALL_IS_UP(plan, wall) (((plan)->without & (wall)) == 0)
uint32_t wall_named(const char *name);
#else
#define WALL_IS_UP(plan, wall) ((void)(plan), true)
#endif

#endif
