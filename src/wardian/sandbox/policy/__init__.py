"""What a run may reach and use.

policy      ``Policy``, ``Share``, ``Limits``: frozen values
file        policy files: strict TOML, errors with line and column
difference  two policies compared by what they allow
units       512M, 30s
presets/    the policies that ship with wardian
"""
