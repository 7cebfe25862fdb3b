"""What people read and look at, drawn from the store. Nothing here measures.

documents/  Markdown and JSON of a campaign
words       how a status is shown: a symbol, a word, a tone
facts       what the store says of one campaign, and of all before it
strips      timelines and trend lines, as SVG
views       what each page shows
calls       the page of system calls
suites      the page of test programs
site        pages written to a directory
serving     the same pages on loopback, redrawn when the store changes
templates/  HTML, CSS and the script of the pages
"""
