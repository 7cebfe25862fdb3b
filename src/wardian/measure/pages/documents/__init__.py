"""What people and programs read of a campaign, drawn from the facts as the HTML is. Pure.

markdown    tables, links, text made harmless
evaluation  EVALUATION_YYYY-MM-DD.md
matrices    CAPABILITIES.md, SKILLS_COMPATIBILITY_MATRIX.md, SYSCALL_ANALYSIS.md
syscalls    the reference of system calls, and the analysis of what was measured of them
evidence    evidence/KIND-SANDBOX.md, to which every number leads
machine     the same as JSON, and as JUnit XML
decision    noop, comment, issue or pull request
writing     all of them written, with the step summary
"""
