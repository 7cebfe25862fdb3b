"""Refusals of commands that run at the same time: each has its own."""

from __future__ import annotations

from pathlib import Path

from wardian import Policy, Sandbox

from .conftest import python

ASK = (
    "import sys\n"
    "for path in sys.stdin:\n"
    "    try: open(path.strip())\n"
    "    except OSError: pass\n"
    "    print('asked', flush=True)\n"
)


def test_each_command_has_its_own_refusals_even_at_the_same_time(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one", "two", "both")]
    for file in files:
        file.write_text("x")
    with Sandbox.create(Policy.default().but(explain=True)) as sandbox:
        processes = [sandbox.start(python(ASK)) for _ in range(2)]
        outputs = [iter(process.stdout) for process in processes]
        for turn in range(2):
            for number, process in enumerate(processes):
                process.stdin.write(f"{files[number] if turn == 0 else files[2]}\n")
                assert next(outputs[number]) == b"asked\n"
        for process in processes:
            process.stdin.close()
        results = [process.wait(30) for process in processes]
    for number, result in enumerate(results):
        targets = [one.target for one in result.refusals]
        assert str(files[number]) in targets
        assert str(files[1 - number]) not in targets
        assert str(files[2]) in targets
        seen = next(one for one in result.refusals if one.target == str(files[number]))
        assert 0 <= seen.time_s <= result.usage.wall_s


def test_a_refusal_is_reported_again_for_the_next_command(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    with Sandbox.create() as sandbox:
        for _ in range(3):
            result = sandbox.run(["cat", str(secret)])
            assert [one.target for one in result.refusals if "secret" in one.target] == [
                str(secret)
            ]
        assert str(secret) not in [one.target for one in sandbox.run(["true"]).refusals]
