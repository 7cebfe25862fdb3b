"""What people read and look at, drawn from the store. Nothing here measures.

facts       one campaign as the store knows it, and those before it
views       what is shown of cases: rows, health, changes
calls       what is shown of system calls
suites      what is shown of test programs
strips      what is shown of cases over time, and trend lines
documents/  the facts as Markdown, JSON and JUnit XML
site        the facts as HTML pages, written to a directory
serving     the same pages on loopback, redrawn when the store changes
templates/  HTML, CSS and the script of the pages
"""
