/* Programs and maps can be loaded into the kernel (bpf). */
#define CAPABILITY "kernel_bpf"
#include "_runner_c.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    union bpf_attr map = {
        .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    if (syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map) < 0)
        blocked("bpf BPF_MAP_CREATE");
    allowed("made a map of one entry");
}

PROBE(exercise)
