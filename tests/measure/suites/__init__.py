"""Suites of tests: the adapter, shown on programs of our own."""
