/* The records of one command: whatever bytes come, they are taken or refused, and what was taken can be read. */
#include "fuzz.h"

#include "../command.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    volatile size_t touched = 0; /* so that what was taken is really read */
    struct plan plan = {0};
    size_t args, envs, args_again, envs_again;
    uint8_t *copy = malloc(size ? size : 1); /* so that reading past its end is seen */
    memcpy(copy, data, size);
    struct cursor cursor = {copy, copy + size};
    if (take(cursor, NULL, &args, &envs)) {
        plan.argv = calloc(args + 1, sizeof *plan.argv);
        plan.envp = calloc(envs + 1, sizeof *plan.envp);
        HOLDS(take(cursor, &plan, &args_again, &envs_again));
        HOLDS(args == args_again && envs == envs_again);
        for (char **word = plan.argv; *word; word++)
            touched = touched + strlen(*word);
        for (char **word = plan.envp; *word; word++)
            touched = touched + strlen(*word);
        touched = touched + (plan.cwd ? strlen(plan.cwd) : 0);
        touched = touched + (plan.path ? strlen(plan.path) : 0);
        free(plan.argv);
        free(plan.envp);
    }
    free(copy);
    return 0;
}
