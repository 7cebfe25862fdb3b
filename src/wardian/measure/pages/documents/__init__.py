"""What people and programs read of a campaign. All of it is drawn from the same values, and pure.

gathered       what the documents are drawn from
markdown       tables, links, text made harmless
evaluation     EVALUATION_YYYY-MM-DD.md
analysis       SYSCALL_ANALYSIS.md
skills         SKILLS_COMPATIBILITY_MATRIX.md
capabilities   CAPABILITIES.md
evidence       evidence/KIND-SANDBOX.md, to which every number leads
machine        the same as JSON, and as JUnit XML
summary        the step summary, within its limit
decision       noop, comment, issue or pull request
"""
