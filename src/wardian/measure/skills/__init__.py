"""Cases of skills, measured.

inventory  the skills that a campaign looks at: scripts, cases, how hard each is
running    a case of a skill in a sandbox: what came of it, and what it did
"""
