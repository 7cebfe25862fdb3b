"""One campaign: everything measured, here or on a cluster, and stored.

config      nightly.toml
workbench   what results depend on: kernel, sandboxes, interpreters, wardian
units       a campaign as independent units of work
trust       which units may run on the bare host
plan        skills, specimens and sandboxes made into units
performing  one unit performed
executing   several at a time, the most important first
cluster     the same on a Dask cluster
campaign    what is known already, and the rest measured
"""
