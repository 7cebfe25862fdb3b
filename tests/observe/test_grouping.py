"""Many paths summarised as few."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from wardian.observe.grouping import Group, grouped

NAMES = st.sampled_from(["a", "b", "usr", "lib", "b-c"])
PATHS = st.lists(NAMES, min_size=1, max_size=5).map(lambda names: "/" + "/".join(names))


def test_few_paths_stay_as_they_are() -> None:
    assert grouped(["/b", "/a/x", "/b"], 3) == [Group("/a/x"), Group("/b")]


def test_many_files_of_one_directory_are_that_directory() -> None:
    library = [f"/usr/lib/python3/{i}.py" for i in range(400)]
    reported = grouped([*library, "/etc/hosts", "/usr/bin/env"], 5)
    assert reported == [Group("/etc/hosts"), Group("/usr/bin/env"), Group("/usr/lib/python3", 400)]


def test_the_root_is_not_a_group() -> None:
    reported = grouped([f"/{name}/{i}" for name in "abcdef" for i in range(5)], 2)
    assert reported == [Group(f"/{name}", 5) for name in "abcdef"]


@example({"/b-c/b-c", "/b-c/b"}, 1)
@given(st.sets(PATHS, max_size=60), st.integers(1, 30))
def test_every_path_is_in_exactly_one_group(paths: set[str], most: int) -> None:
    reported = grouped(paths, most)
    assert sum(group.count for group in reported) == len(paths)
    tops = {path.split("/")[1] for path in paths}
    # a name in the root that is a directory and listed itself takes one group more
    assert len(reported) <= max(most, 2 * len(tops))
    for group in reported:
        if group.count == 1:
            assert group.path in paths
        else:
            below = [p for p in paths if p == group.path or p.startswith(group.path + "/")]
            assert len(below) >= group.count
