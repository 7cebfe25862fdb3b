"""What a run may reach and use.

policy      ``Policy``, ``Share``, ``Limits``: frozen values
tls         ``[network.tls]`` of a policy file: requests to hosts, secrets
file        policy files read: strict TOML, errors with line and column
writing     a policy written as a file
difference  two policies compared by what they allow
view        what of the host two policies show, and where
units       512M, 30s
setting     limits as a caller sets them, checked
grants      what a remedy gives, as data, and a policy with it
presets/    the policies that ship with wardian
"""
