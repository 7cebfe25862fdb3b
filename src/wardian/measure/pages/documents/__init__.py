"""A campaign as Markdown, JSON and JUnit XML, from the same facts as the HTML. Pure.

markdown    tables, links, escaped text
evaluation  EVALUATION_YYYY-MM-DD.md
matrices    CAPABILITIES.md, SKILLS_COMPATIBILITY_MATRIX.md, SYSCALL_ANALYSIS.md
syscalls    the reference of system calls, and the analysis of their measurements
evidence    evidence/KIND-SANDBOX.md, to which every number links
machine     JSON and JUnit XML
decision    noop, comment, issue or pull request
writing     writes all of them, and the step summary
"""
