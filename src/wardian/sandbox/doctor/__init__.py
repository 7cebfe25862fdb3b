"""Which walls and backends work on this host, found by trying, and what to do about the rest.

doctor    the report: checks, and what each came to
attempts  kernel facilities tried one by one
advice    sysctls, containers and versions that explain a failure, and the cure
"""
