"""Results over time.

timeline    a case or a figure over campaigns: since when, when it flipped, and why
changes     what changed between two campaigns that could explain a flip
comparison  this campaign beside what was last known of each case
selecting   names that people give → cases and figures
"""
