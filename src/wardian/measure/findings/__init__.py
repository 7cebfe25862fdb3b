"""What is wrong, and what would fix it.

findings     results that are not as they should be, joined by cause and ranked
refused      what runs were refused: the likeliest cause first
proposals    changes that would fix a finding, each tried
candidates   a change of files that might fix something, put in force for a try
reverting    what changed since it worked, taken back
policy_edit  lines added to a policy file's text
patches      changes as patches that `git apply` takes
"""
