"""The differential fuzzer: short programs of system calls, natively and in a sandbox, compared.

program        a program of calls: what it is, and how it reads
rules.toml     what is left out, what is not compared, what is explained, each with its reason
rules          reads it
generate       programs from a seed, by the roles of the syscall table's arguments
contents       what lies behind their pointers
executor.c     runs programs, on the host (with oracle.c) and in the sandbox, with scratch.c
wire           encodes programs, decodes untrusted results
sides          the host and the sandbox, where programs run
compare        the first difference between two results
explain        which of these differences the policy explains
minimise       the smallest program that still shows a difference
specimens      a difference as a numbered specimen in C
campaign       generate, run, compare, minimise, repeat
state          progress and findings, so that a campaign can be resumed
"""
