"""What the guest finds inside.

layout         layout.toml as data: what every guest finds, whatever its policy
root           what a guest's root is made of, as data
steps          the same as the launcher's set-up steps
shares         from the shares that a policy names to sources that may be mounted
programs       finding the program that a command names, and what it needs to start
active         the environments that are active where wardian is called
installations  which installations of interpreters there are on this machine
parts          parts of the host's /usr and /etc in place of the whole
"""
