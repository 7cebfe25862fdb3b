"""What was measured: one SQLite file.

store      written: each result when it is there, whole or not at all
schema     the tables, and how an older store becomes a new one
model      what it holds, as values
figures    numbers drawn from results
refusals   a refusal written and read
reading    questions to it
merging    stores joined, campaigns deleted
exporting  JSON lines and CSV
"""
