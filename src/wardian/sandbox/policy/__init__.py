"""What a run may reach and use.

policy      ``Policy``, ``Share``, ``Limits``: frozen values
tls         ``[network.tls]`` of a policy file: requests to hosts, secrets
file        policy files read: strict TOML, errors with line and column
writing     a policy written as a file
difference  two policies compared by what they allow
view        what of the host two policies show, and where
units       512M, 30s
presets/    the policies that ship with wardian
"""
