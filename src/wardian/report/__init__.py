"""What people look at: a static site drawn from the store. Nothing here measures.

words     how a status is shown: a symbol, a word, a tone
facts     what the store says of one campaign, and of all before it
strips    timelines and trend lines, as SVG
views     what each page shows, drawn from the facts
site      pages written to a directory
serving   the same pages on loopback, kept up to date while a campaign runs
"""
