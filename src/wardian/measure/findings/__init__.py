"""What is wrong, and what would fix it.

troubles     results that are not as they should be, and what each was refused
findings     the same joined by cause and ranked
proposals    changes that would fix a finding, each tried on the failing cases
proposal     a change of files that might fix something, put in force for a try
reverting    what changed since it worked, taken back
policy_edit  lines added to a policy file's text
patches      changes as patches that `git apply` takes
"""
