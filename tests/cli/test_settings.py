"""The user's setting for records: flag, then variable, then file; wrong ones are told in place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import Wardian


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The user's settings file, which is not there yet."""
    path = tmp_path / "config" / "wardian" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def run(wardian: Wardian, config: Path, *options: str, code: int = 0, **env: str) -> str:
    done = wardian("exec", *options, "--", "true", XDG_CONFIG_HOME=str(config.parents[1]), **env)
    assert done.returncode == code, done.stderr
    return done.stderr


def test_the_file_names_a_directory(wardian: Wardian, config: Path, tmp_path: Path) -> None:
    config.write_text(f'[record]\ndir = "{tmp_path}/runs"\n')
    run(wardian, config)
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_a_tilde_is_the_home(wardian: Wardian, config: Path, tmp_path: Path) -> None:
    config.write_text('[record]\ndir = "~/runs"\n')
    run(wardian, config, HOME=str(tmp_path))
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_the_flag_wins_over_the_variable_and_that_over_the_file(
    wardian: Wardian, config: Path, tmp_path: Path
) -> None:
    config.write_text(f'[record]\ndir = "{tmp_path}/file"\n')
    run(wardian, config, WARDIAN_RECORD=f"{tmp_path}/variable")
    assert (tmp_path / "variable").exists()
    run(wardian, config, "--record", "flag", WARDIAN_RECORD=f"{tmp_path}/variable2")
    assert (tmp_path / "flag").exists()
    assert not (tmp_path / "variable2").exists()
    assert not (tmp_path / "file").exists()


def test_recording_can_be_switched_off(wardian: Wardian, config: Path, tmp_path: Path) -> None:
    config.write_text(f'[record]\ndir = "{tmp_path}/runs"\n')
    run(wardian, config, "--record", "none")
    run(wardian, config, WARDIAN_RECORD="none")
    run(wardian, config, WARDIAN_RECORD="")
    config.write_text('[record]\ndir = "none"\n')
    run(wardian, config)
    config.write_text("[record]\n")
    run(wardian, config)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("[record]\ndri = 'x'\n", "2:1", "did you mean 'dir'?"),
        ("[recrod]\n", "1:1", "did you mean 'record'?"),
        ("record = 'x'\n", "1:1", "must be a table"),
        ("[record]\n\ndir = 7\n", "3:1", "expected a string"),
        ("[record]\ndir = 'runs'\n", "2:1", "not an absolute path"),
        ("[record]\ndir = \n", "2:7", "invalid value"),
        ("[record\n", "1:8", "expected ']'"),
    ],
)
def test_a_wrong_file_is_told_with_line_and_column(
    wardian: Wardian, config: Path, text: str, place: str, said: str
) -> None:
    config.write_text(text)
    told = run(wardian, config, code=125)
    assert told.startswith(f"error: {config}:{place}: ")
    assert said.lower() in told.lower()


def test_files_that_can_not_be_settings_are_refused(wardian: Wardian, config: Path) -> None:
    config.write_bytes(b"\xff\xfe")
    assert "is not UTF-8 text" in run(wardian, config, code=125)
    config.unlink()
    config.mkdir()
    assert "can't be read" in run(wardian, config, code=125)


def test_a_relative_variable_is_refused(wardian: Wardian, config: Path) -> None:
    assert "not an absolute path" in run(wardian, config, WARDIAN_RECORD="runs", code=125)
    assert "must be a directory" in run(wardian, config, "--record", "", code=125)
