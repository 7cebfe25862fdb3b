"""The cures: a command that fails, the hint it prints, and what of the hint is applied.

``hint`` is a pattern of the whole hint with one group for each cure in it; each is applied by
itself and must let the command run. Words in CAPITALS are places that the tests make.
"""

from __future__ import annotations

from typing import NamedTuple


class Cure(NamedTuple):
    """``sample`` is the hint as a person reads it, ``how`` what its groups are."""

    command: str
    hint: str
    sample: str
    how: str = "options"  # options | instead | shell | drop


BWRAP = "exec --backend bubblewrap --degrade landlock --degrade notify"

# By the options or the words that the hint names.
COMMANDS = {
    "a byte of memory": Cure(
        "exec --memory 1 -- true",
        r"--memory 1 leaves no room for the guest's own root; allow more: (--memory 16M)",
        "--memory 1 leaves no room for the guest's own root; allow more: --memory 16M",
    ),
    "a kilobyte of disk": Cure(
        "exec --disk 1K -- true",
        r"--disk 1K leaves no room for the guest's own root; allow more: (--disk 1M)",
        "--disk 1K leaves no room for the guest's own root; allow more: --disk 1M",
    ),
    "neither memory nor disk": Cure(
        "exec --memory 4K --disk 8K -- true",
        r".* allow more: (--memory 16M --disk 1M)",
        "--memory 4K --disk 8K leaves no room for the guest's own root; allow more: …",
    ),
    "a directory that is not shared": Cure(
        "exec --cwd DIRECTORY -- true",
        r"share it: (--read \S+) \(or --write\), or choose another with --cwd",
        "share it: --read /srv (or --write), or choose another with --cwd",
    ),
    "a directory that is nowhere": Cure(
        "exec --cwd /nowhere -- true",
        r"this host has no such directory either; choose another with (--cwd)",
        "this host has no such directory either; choose another with --cwd",
        "cwd",
    ),
    "bubblewrap as it is": Cure(
        "exec --backend bubblewrap -- true",
        r"run with (--degrade landlock --degrade notify), or use (--backend wardian); "
        r"to accept it in every run: wardian help backends",
        "run with --degrade landlock --degrade notify, or use --backend wardian; "
        "to accept it in every run: wardian help backends",
    ),
    "bubblewrap by name": Cure(
        f"{BWRAP} --net api.example.com -- true",
        r"run with (--net none) or (--net host), or use (--backend wardian)",
        "run with --net none or --net host, or use --backend wardian",
    ),
    "bubblewrap with an interface": Cure(
        f"{BWRAP} --interface -- true",
        r"omit (--interface), or use --backend wardian",
        "omit --interface, or use --backend wardian",
        "drop",
    ),
    "an unknown backend": Cure(
        "exec --backend nosuch -- true",
        r"backends: (wardian), .*",
        "backends: wardian, bubblewrap, gvisor, host",
        "instead nosuch",
    ),
    "a wall that can't be given up": Cure(
        "exec --degrade seccomp -- true",
        r"to run without any sandbox, say so: (--backend host)",
        "to run without any sandbox, say so: --backend host",
    ),
    "an unknown wall": Cure(
        "exec --degrade nosuch -- true",
        r"known: (landlock), .*",
        "known: landlock, landlock.refer",
        "instead nosuch",
    ),
    "every name below com": Cure(
        "exec --net *.com -- true",
        r"name what is meant, such as (\*\.example\.com)",
        "name what is meant, such as *.example.com",
        "instead *.com",
    ),
    "a star inside a name": Cure(
        "exec --net api.*.com -- true", r"(\*\.example\.com)", "*.example.com", "instead api.*.com"
    ),
    "an IPv6 address without brackets": Cure(
        "exec --net fd00::1 -- true",
        r"an IPv6 address stands in brackets: (\[fd00::1\])",
        "an IPv6 address stands in brackets: [fd00::1]",
        "instead fd00::1",
    ),
    "a port that is none": Cure(
        "exec --net api.example.com:99999 -- true",
        r"ports are 1 to 65535: :443,(8000-8010)",
        "ports are 1 to 65535: :443,8000-8010",
        "instead 99999",
    ),
    "a network with too few digits": Cure(
        "exec --net 10.1.2.3/24 -- true",
        r"such as (10\.1\.2\.0/24:5432)",
        "such as 10.1.2.0/24:5432",
        "instead 10.1.2.3/24",
    ),
    "something in place of /usr": Cure(
        "exec --read DIRECTORY:/usr -- true",
        r"give it another place: (\S+:/mnt/usr)",
        "give it another place: /srv:/mnt/usr",
        "instead DIRECTORY:/usr",
    ),
    "a share inside a share": Cure(
        "exec --read DIRECTORY:/data --read OTHER:/data/inner -- true",
        r"give it a place of its own, such as (\S+:/mnt/\S+), or create \S+ first",
        "give it a place of its own, such as /a:/mnt/a, or create /b/a first",
        "instead OTHER:/data/inner",
    ),
    "a link that a guest may have left": Cure(
        "exec --read LINK -- true",
        r"name the target itself, if it is meant: (\S+)",
        "name the target itself, if it is meant: /srv",
        "instead LINK",
    ),
    "a sandbox that is not there": Cure(
        "exec --sandbox cured -- true",
        r"none is running; start it: (wardian up cured)",
        "none is running; start it: wardian up cured",
        "shell",
    ),
    "no command": Cure(
        "exec",
        r"usage: wardian exec \[OPTIONS\] (-- )COMMAND \[ARGS\]…",
        "usage: wardian exec [OPTIONS] -- COMMAND [ARGS]…",
        "append true",
    ),
    "a name that no sandbox can have": Cure(
        "up UPPER",
        r"lower-case letters, digits, - _ and \., at most \d+, a letter or digit first: (build-1)",
        "lower-case letters, digits, - _ and ., at most 40, a letter or digit first: build-1",
        "instead UPPER",
    ),
    "a link as a directory for output": Cure(
        "exec --out LINK -- true",
        r"name the target itself: (\S+)",
        "name the target itself: /srv",
        "instead LINK",
    ),
    "a limit that the host's network can't have": Cure(
        "exec --policy LIMITED -- true",
        r'it holds for a network by name: (allow = \["api\.example\.com"\])',
        'it holds for a network by name: allow = ["api.example.com"]',
        "network",
    ),
    "a policy that a guest may have written": Cure(
        "exec --policy SHARED/policy.toml -- true",
        r"review it, and use (a copy) that lies elsewhere",
        "review it, and use a copy that lies elsewhere",
        "copy",
    ),
    "a program that a living sandbox lacks": Cure(
        "exec --sandbox cured -- PROGRAM",
        r"name it when the sandbox is made: (wardian up --program )PROGRAM, .*",
        "name it when the sandbox is made: wardian up --program PROGRAM, "
        "Sandbox.create(programs=[…])",
        "up",
    ),
    "a policy with two bases": Cure(
        "exec --policy POLICY -- true",
        r'to share it besides: (read = \["\S+"\])',
        'to share it besides: read = ["/srv"]',
        "policy",
    ),
}

# In user namespaces of the tests' own, where the limits on namespaces are theirs to set.
NAMESPACE_SAMPLES = ("sudo sysctl -w user.max_mnt_namespaces=28633",)
HOST_SAMPLES = (
    *NAMESPACE_SAMPLES,
    "raise the limit on open files: ulimit -n 1024",
    "run with --degrade notify: refusals still hold, but are not reported",
    "sudo apt install bubblewrap",
    "sudo apt install runsc, or see gvisor.dev",
    "does it work by itself? bwrap --unshare-all --ro-bind / / true",
    "does it work by itself? runsc --rootless --network=none --ignore-cgroups do true",
    "set TMPDIR to a directory with free space, or name a work directory",
    "close it: chmod 700 /run/user/1000/wardian",
    "set XDG_RUNTIME_DIR to a directory that you own, or unset it",
    "use it: wardian exec --sandbox cured -- COMMAND; or end it: wardian down cured",
    "raise the limit on file sizes: ulimit -f unlimited",
    "sudo sysctl -w fs.mount-max=200000",
    "run with --degrade landlock, or use a kernel with Landlock enabled (lsm=landlock)",
    "set API_KEY for wardian itself; the guest does not get it",
    "remove API_KEY from the run's environment",
    "keep it outside of what is shared",
    "start it again: wardian up cured",
    "did you mean cured? ",
)
# In Python, where a hint names a call.
CALL_SAMPLES = (
    'write 30, 0.5, "30s", "10m", or None for no limit',
    'write "10m" for minutes',
    "limits: time, cpu, memory, processes, files, disk, output",
    "policy.with_limits(time='30s') takes text",
    "a number from 1 to 65535",
    'for a shell, ask for one: ["sh", "-c", "…"]',
    "omit host_port to use a free one",
    "start a server there first; connect(port, wait_s=10) waits for it",
    "presets: conformance, conformance-open, default",
    'preload=["json", "numpy"]',
    'python="python3"',
    'Pool(python="python3")',
    "its path inside, or code=…",
    'Policy.default().but(network="names")',
    "omit fresh=True, and use the backend wardian",
    "write to /work, which is there between runs",
    "read it there, and write it here",
    "pass what result.refusals holds",
    "rules in force: api.example.com",
    "such as GET, POST",
    "such as /v1/items, /v1/items/* or /v1/**",
    'such as "Authorization"',
    "write NAME, *.NAME, ADDRESS or ADDRESS/BITS, each with :PORT,PORT or without",
    "make a new one",
)
SAMPLES = (*(cure.sample for cure in COMMANDS.values()), *HOST_SAMPLES, *CALL_SAMPLES)
