"""Tests of wardian.syscalls."""
