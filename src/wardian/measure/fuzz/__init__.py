"""The differential fuzzer: short programs of system calls, natively and in a sandbox, compared.

program        a program of calls: what it is, and how it reads
rules.toml     what is left out, what is not compared, what is explained, each with its reason
rules          reads it
generate       programs from a seed, by the roles of the syscall table's arguments
contents       what lies behind their pointers
executor.c     runs programs; the same on both sides, with oracle.c on the host, and scratch.c
wire           programs to bytes, results from bytes that nobody trusts
sides          the two places where programs run
compare        where two results part
explain        which of these differences the policy explains
minimise       the smallest program that still shows a difference
specimens      a difference as a numbered specimen in C
campaign       all of it, over and over
state          how far it came, so that it can be resumed
"""
