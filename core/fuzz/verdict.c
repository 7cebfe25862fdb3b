/* The filter's interpreter: any program ends, reads nothing but the call, and answers with 0 or an
 * errno; 0 only if a return that allows was reached. */
#include "fuzz.h"

#include "../bpf.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct seccomp_data call;
    static struct plan plan;
    if (size < sizeof call)
        return 0;
    memcpy(&call, data, sizeof call);
    size_t len = (size - sizeof call) / sizeof(struct sock_filter) * sizeof(struct sock_filter);
    uint8_t *program = malloc(len ? len : 1);
    memcpy(program, data + sizeof call, len);
    plan.verdict = program;
    plan.verdict_len = len;
    bpf_load(&plan);
    bool allows = false;
    for (size_t at = 0; at < len; at += sizeof(struct sock_filter)) {
        struct sock_filter step;
        memcpy(&step, program + at, sizeof step);
        allows = allows || (step.code == (BPF_RET | BPF_K) && step.k == SECCOMP_RET_ALLOW);
    }
    struct seccomp_data *alone = malloc(sizeof call); /* so that reading past its end is seen */
    memcpy(alone, &call, sizeof call);
    int error = bpf_verdict(alone);
    HOLDS(error >= 0 && (unsigned)error <= SECCOMP_RET_DATA);
    HOLDS(error != 0 || allows);
    free(alone);
    free(program);
    return 0;
}
