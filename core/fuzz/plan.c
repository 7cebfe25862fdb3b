/* The plan's parser: whatever bytes come, it takes or refuses them, and what it took can be read. */
#include "fuzz.h"

#include "../bpf.h"
#include "../plan.h"

static size_t touched;

static void touch(const char *text) { touched += text ? strlen(text) : 0; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct plan plan;
    const char *problem;
    uint8_t *copy = malloc(size ? size : 1); /* so that reading past its end is seen */
    memcpy(copy, data, size);
    if (plan_parse(&plan, copy, size, &problem)) {
        for (size_t i = 0; i < plan.step_count; i++) {
            touch(plan.steps[i].path);
            if (plan.steps[i].text_len)
                touched += (size_t)plan.steps[i].text[plan.steps[i].text_len - 1];
        }
        for (size_t i = 0; i < plan.rule_count; i++)
            touch(plan.rules[i].path);
        for (char **word = plan.argv; *word; word++)
            touch(*word);
        for (char **word = plan.envp; *word; word++)
            touch(*word);
        for (size_t i = 0; i < plan.watched_count; i++)
            touch(plan.watched[i]);
        for (size_t i = 0; i < plan.bare.staged_count; i++)
            touch(plan.bare.staged[i].path);
        for (size_t i = 0; i < plan.bare.place_count; i++)
            touch(plan.bare.places[i]);
        touch(plan.bare.stage);
        touch(plan.bare.voice);
        if (!plan.bare.wanted && (!plan.filter_len || !plan.uid || !plan.root_bytes))
            __builtin_trap(); /* a wall is missing */
        touch(plan.cwd);
        touch(plan.path);
        touch(plan.hostname);
        bpf_load(&plan);
    } else {
        touch(problem);
    }
    plan_forget();
    free(copy);
    return 0;
}
