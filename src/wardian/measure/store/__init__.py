"""The results of measurements: one SQLite file.

store      written: each result when it is there, whole or not at all
schema     the tables, and how an older store becomes a new one
rows       the same case, the same outcome: one row
model      what it holds, as values
figures    numbers drawn from results
reading    queries
merging    join stores, delete campaigns
exporting  JSON lines and CSV
"""
