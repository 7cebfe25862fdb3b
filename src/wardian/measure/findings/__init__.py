"""What failed, why, and which change would fix it.

troubles     unexpected results, and the refusals of each
findings     troubles grouped by cause and ranked
proposals    changes that might fix a finding, each tried on the failing cases
proposal     one such change of files, applied temporarily for a try
reverting    changes since a case last worked, reverted
policy_edit  adds lines to the text of a policy file
patches      changes as patches for `git apply`
"""
