"""Sources of tests beside the table of system calls."""

from __future__ import annotations

from pathlib import Path

from tests.measure.suites.conftest import SOURCES, Suite, document
from wardian.measure.suites import catalogue
from wardian.measure.suites.sources import code_only, read_source, syscalls_in
from wardian.syscalls.table import find

TEXT = r"""
// TEST(No, Comment) { kill(1, 2); }
/* open("/x"); */
namespace gvisor {
namespace {
const char* kText = "TEST(No, Text) { fork(); }";
const char* kRaw = R"x(unlink("a"); )" )x";
const char kQuote = '"';

int Helper(int fd) { return Deeper(fd); }
int Deeper(int fd) { return fsync(fd); }

class Fixture : public testing::Test {
 protected:
  void SetUp() override { fd_ = epoll_create1(0); }
};

TEST(Plain, Calls) {
  EXPECT_THAT(syscall(SYS_gettid), SyscallSucceeds());
  EXPECT_THAT(RetryEINTR(accept4)(3, nullptr, nullptr, 0), SyscallFails());
  file.close(); pointer->shutdown(); std::bind(f); ::getppid();
  if (true) { Helper(3); }
}

TEST_F(Fixture, Waits) { epoll_wait(fd_, nullptr, 0, 0); }

TEST_P(Values, Are) { fork(); }
INSTANTIATE_TEST_SUITE_P(Few, Values, testing::Values(1));
INSTANTIATE_TEST_SUITE_P(Many, Values,
                         testing::Values(2));
TYPED_TEST_SUITE(Widths, Both);
TYPED_TEST(Widths, Are) { syscall(__NR_no_such_call); }
}  // namespace
}  // namespace gvisor
"""


LOCAL = r"""
int futex_wait(int* word) { return syscall(SYS_futex, word); }
TEST(Local, Wait) {
  auto mount = [](int a) { return a; };
  futex_wait(&x);
  mount(1);
  HeldOpen held;
}
TEST(Global, Mount) { ::mount("a", "b", "c", 0, nullptr); }
TEST_P(Kinds, Are) { GetParam()(); }
INSTANTIATE_TEST_SUITE_P(All, Kinds, testing::Values([]() { return inotify_init1(0); }, MakePipe));
"""
HEADER = r"""
class HeldOpen { public: HeldOpen() : fd_(openat(1, "x", 0)) {} };
inline int MakePipe() { int fds[2]; return pipe2(fds, 0); }
"""


def test_functions_of_ones_own_are_no_calls_and_those_of_headers_are_looked_into() -> None:
    source = read_source("a.cc", LOCAL, [HEADER])
    calls = {one.full_name: set(one.syscalls) for one in source.cases}
    assert calls == {
        "Local.Wait": {"futex", "openat"},
        "Global.Mount": {"mount"},
        "Kinds.Are": {"inotify_init1", "pipe2"},
    }


def test_headers_are_found_beside_a_source_and_below_what_was_named(tmp_path: Path) -> None:
    (tmp_path / "util").mkdir()
    (tmp_path / "util" / "kinds.h").write_text(HEADER)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "near.h").write_text('#include "util/kinds.h"')
    (tmp_path / "tests" / "a.cc").write_text('#include "near.h"\n#include "../../x.h"\n' + LOCAL)
    (case, *_) = catalogue.read_catalogue(str(tmp_path)).cases
    assert case.syscalls == ("futex", "openat")


def test_cases_are_found_with_their_calls() -> None:
    source = read_source("a.cc", TEXT)
    calls = {one.full_name: set(one.syscalls) for one in source.cases}
    assert calls == {
        "Plain.Calls": {"gettid", "accept4", "getppid", "fsync"},
        "Fixture.Waits": {"epoll_create1", "epoll_wait"},
        "Values.Are": {"fork", "clone"},
        "Widths.Are": set(),
    }
    assert source.unknown == ("no_such_call",)
    of = {one.full_name: one for one in source.cases}
    assert of["Values.Are"].instances == ("Few", "Many")
    assert of["Plain.Calls"].line == TEXT[: TEXT.index("TEST(Plain")].count("\n") + 1
    assert [one.macro for one in source.cases] == ["TEST", "TEST_F", "TEST_P", "TYPED_TEST"]


def test_comments_and_literals_are_no_code() -> None:
    code = code_only(TEXT)
    assert len(code) == len(TEXT)
    assert not {"kill", "unlink", "open"} & syscalls_in(code)


def test_every_function_of_the_list_leads_to_calls_of_the_table() -> None:
    rows = (Path(catalogue.__file__).parent / "calls.tsv").read_text().splitlines()
    assert rows[0] == "function\tsyscalls"
    for row in rows[1:]:
        name, calls = row.split("\t")
        assert name
        assert all(find(call) is not None for call in calls.split(" ")), row
    assert [row.split("\t")[0] for row in rows[1:]] == sorted({r.split("\t")[0] for r in rows[1:]})


def test_our_own_programs_are_catalogued(suite: Suite) -> None:
    found = document(suite("catalogue", SOURCES, "--json"))
    files = {one["path"]: one for one in found["files"]}
    assert set(files) >= {"kinds.cc", "rough.cc", "walls.cc"}
    walls = {f"{one['suite']}.{one['name']}": one for one in files["walls.cc"]["cases"]}
    assert {"ptrace", "fork", "wait4"} <= set(walls["Walls.TraceAgain"]["syscalls"])
    assert "mkdir" in walls["Room.WorkingDirectoryIsWritable"]["syscalls"]
    assert found["syscalls"]["ptrace"] == {"files": ["walls.cc"], "cases": 4}
    assert found["absent_files"] == {}


def test_tests_that_the_table_names_and_the_tree_lacks_are_reported(tmp_path: Path) -> None:
    folder = tmp_path / "gvisor" / "test" / "syscalls" / "linux"
    folder.mkdir(parents=True)
    (folder / "fsync.cc").write_text("TEST(F, S) { fsync(1); }\n")
    (tmp_path / "gvisor" / "other.cc").write_text("TEST(O, T) {}\n")
    found = catalogue.read_catalogue(str(tmp_path / "gvisor"))
    assert [one.path for one in found.sources] == ["fsync.cc"]
    tests_of = {"fsync": ("fsync.cc",), "tee": ("tee.cc", "splice.cc"), "setsid": ("tee.cc",)}
    assert catalogue.absent_files(found, tests_of) == {
        "splice.cc": ["tee"], "tee.cc": ["tee", "setsid"],
    }  # fmt: skip
    reported = catalogue.lines(found)  # against what the table names by itself
    assert "the table names epoll.cc for " in "\n".join(reported)
    assert not any("the table names fsync.cc" in line for line in reported)


def test_results_are_reported_by_system_call(suite: Suite, build: object) -> None:
    program = build("walls")  # type: ignore[operator]
    done = suite("run", program, "--source", SOURCES, "--in", "wardian,host", "--json")
    found = document(done)["syscalls"]
    assert found["ptrace"] == {
        "wardian": {"failed": 3, "skipped": 1}, "host": {"passed": 4},
    }  # fmt: skip
    assert found["mkdir"]["wardian"] == {"passed": 1}
