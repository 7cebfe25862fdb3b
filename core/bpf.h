/* An interpreter for the filter: its verdict on a call that reached the supervisor. */
#ifndef WARDIAN_BPF_H
#define WARDIAN_BPF_H

#include "plan.h"

struct seccomp_data;

void bpf_load(const struct plan *plan);
int bpf_verdict(const struct seccomp_data *data); /* 0: allowed; else the error */

#endif
