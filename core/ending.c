/* The last lines on the status descriptor: what was refused, how the run ended, and what it used. */
#define _GNU_SOURCE
#include "fortify.h"
#include "ending.h"
#include "cgroup.h"
#include "inner_sandbox.h"
#include "limits.h"
#include "refusals.h"
#include "relay.h"
#include "status.h"
#include "trace.h"

#include <signal.h>
#include <sys/wait.h>

void emit_ended(const struct ended *end) {
    emit("{\"event\":\"ended\",\"reason\":\"%s\",\"code\":%d,\"signal\":%d,\"exec_errno\":%d,"
         "\"wall_us\":%lld,\"user_us\":%lld,\"system_us\":%lld,\"peak_bytes\":%llu,"
         "\"tasks\":%llu,\"stdin_bytes\":%llu,\"stdout_bytes\":%llu,\"stderr_bytes\":%llu,"
         "\"output_exceeded\":%s,\"cgroup\":%d,\"not_copied\":%d}",
         end->reason, end->code, end->signal, end->exec_error, (long long)end->wall_us, (long long)end->user_us,
         (long long)end->system_us, (unsigned long long)end->peak_bytes, (unsigned long long)end->tasks,
         (unsigned long long)end->stream_bytes[0], (unsigned long long)end->stream_bytes[1],
         (unsigned long long)end->stream_bytes[2], end->output_exceeded ? "true" : "false", cgroup_version(),
         end->not_copied);
}

void report_end(const struct ending *end) {
    trace_end();
    refusals_report(0);
    relay_report_held();
    inner_report();
    int code = end->exited && WIFEXITED(end->status) ? WEXITSTATUS(end->status) : -1;
    int signal = end->exited && WIFSIGNALED(end->status) ? WTERMSIG(end->status) : end->exited ? 0 : SIGKILL;
    if (code >= 0)
        relay_report_tail();
    const char *reason = !end->reaped             ? "unkillable"
                         : end->reason && !end->exited ? end->reason
                         : end->starved           ? "memory"
                         : end->overran           ? "disk"
                         : relay_output_exceeded(end->output_limit) ? "output"
                         : end->exec_error        ? "exec"
                         : end->exited            ? (signal ? "signal" : "exited")
                                                : "lost";
    long long user_us = (long long)end->usage.ru_utime.tv_sec * 1000000 + end->usage.ru_utime.tv_usec;
    long long system_us = (long long)end->usage.ru_stime.tv_sec * 1000000 + end->usage.ru_stime.tv_usec;
    /* The CPU time of processes that died with the reaper is known only from our own samples. */
    if ((long long)limits_cpu_us() > user_us + system_us)
        user_us = (long long)limits_cpu_us() - system_us;
    uint64_t rss = (uint64_t)end->usage.ru_maxrss * 1024;
    uint64_t peak = limits_peak_bytes() > rss ? limits_peak_bytes() : rss;
    emit_ended(&(struct ended){
        .reason = reason, .code = code, .signal = signal, .exec_error = end->exec_error, .wall_us = end->wall_us,
        .user_us = user_us, .system_us = system_us, .peak_bytes = peak, .tasks = end->tasks > 1 ? end->tasks - 1 : 1,
        .stream_bytes = {relay_bytes(0), relay_bytes(1), relay_bytes(2)},
        .output_exceeded = relay_output_exceeded(end->output_limit), .not_copied = end->not_copied,
    });
}
