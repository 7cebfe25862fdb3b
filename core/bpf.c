/* An interpreter for the filter's program. Watched calls and refused calls both reach the supervisor; running
 * the program again shows which kind a call is, and the errno of a refusal. It reads registers only, which no
 * other thread can change; anything not plainly allowed is refused. */
#define _GNU_SOURCE
#include "fortify.h"
#include "bpf.h"
#include "plan.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>

enum { MAX_INSTRUCTIONS = 4096 };

static struct sock_filter program[MAX_INSTRUCTIONS];
static size_t length;

void bpf_load(const struct plan *plan) {
    length = 0; /* without a program, everything is refused */
    if (plan->verdict_len == 0 || plan->verdict_len > sizeof program)
        return;
    memcpy(program, plan->verdict, plan->verdict_len);
    length = plan->verdict_len / sizeof *program;
}

/* Covers the instructions that syscalls/filter.py emits; any other one yields no verdict, which means a
 * refusal. */
int bpf_verdict(const struct seccomp_data *data) {
    uint32_t value = 0;
    for (size_t at = 0; at < length; at++) {
        const struct sock_filter *step = &program[at];
        switch (step->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            if (step->k > sizeof *data - sizeof value)
                return EPERM;
            memcpy(&value, (const char *)data + step->k, sizeof value);
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            value &= step->k;
            break;
        case BPF_JMP | BPF_JA:
            at += step->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            at += value == step->k ? step->jt : step->jf;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            at += value >= step->k ? step->jt : step->jf;
            break;
        case BPF_RET | BPF_K:
            return step->k == SECCOMP_RET_ALLOW ? 0 : (int)(step->k & SECCOMP_RET_DATA) ?: EPERM;
        default:
            return EPERM;
        }
    }
    return EPERM;
}
