"""Results over time.

timeline    a case or a figure over campaigns: its values, when they changed, and why
changes     changes between two campaigns that could explain a flip
comparison  a campaign compared with the last known result of each case
selecting   finds cases and figures by name or glob
"""
