"""Pages and documents for people, drawn from the store. Nothing here measures.

facts       one campaign as the store has it, and those before it
labels      names of sandboxes, times and durations for people
scores      two figures for each sandbox: attacks stopped, programs and skills that work
views       what is shown of cases: rows, totals, changes
calls       what is shown of system calls
suites      what is shown of test programs
strips      what is shown of cases over time, and trend lines
documents/  the facts as Markdown, JSON and JUnit XML
site        the facts as HTML pages, written to a directory
serving     the same pages on loopback, redrawn when the store changes
templates/  HTML, CSS and the script of the pages
"""
