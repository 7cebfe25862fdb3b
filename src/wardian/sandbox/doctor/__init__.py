"""Tests which walls and backends work on this host, and how to fix the others.

doctor    the report: checks, and what each came to
attempts  kernel facilities tried one by one
advice    sysctls, containers and versions that explain a failure, and the cure
"""
