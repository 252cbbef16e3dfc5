"""The revision in base/version.h follows every commit and edit, and a header that need not change is not touched.

VERSION_SCRIPT: cmake/revision.cmake. CMAKE: the program that runs it.
"""

import os
import subprocess

import pytest

TEMPLATE = '#define FDAPP_REVISION "@FDAPP_REVISION@"\n'


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "a.c").write_text("one\n")
    (tmp_path / "version.h.in").write_text(TEMPLATE)
    return folder


def git(source, *arguments):
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(source), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def commit(source):
    git(source, "add", "a.c")
    git(source, "commit", "-q", "-m", "a change")
    return git(source, "rev-parse", "--short", "HEAD")


def revision(source, git="git"):
    """Runs the script as a build does; the revision it leaves."""
    header = source.parent / "version.h"
    options = {
        "GIT": git,
        "SOURCE": source,
        "FALLBACK": "v1.2.3",
        "TEMPLATE": header.with_suffix(".h.in"),
        "HEADER": header,
    }
    definitions = [f"-D{name}={text}" for name, text in options.items()]
    subprocess.run([os.environ["CMAKE"], *definitions, "-P", os.environ["VERSION_SCRIPT"]], check=True, timeout=60)
    return header.read_text().split('"')[1]


def test_follows_commits_and_edits(source):
    git(source, "init", "-q")
    first = commit(source)
    assert revision(source) == first
    (source / "a.c").write_text("two\n")
    assert revision(source) == f"{first}-dirty"
    second = commit(source)
    assert second != first
    assert revision(source) == second
    git(source, "tag", "v9")
    assert revision(source) == "v9"


def test_leaves_alone_what_is_right(source):
    git(source, "init", "-q")
    commit(source)
    revision(source)
    header = source.parent / "version.h"
    os.utime(header, ns=(1, 1))
    revision(source)
    assert header.stat().st_mtime_ns == 1


def test_no_repository(source):
    git(source.parent, "init", "-q")  # one further up is another project's
    assert revision(source) == "v1.2.3"
    (source / ".git").write_text("not a repository\n")
    assert revision(source) == "v1.2.3"
    assert revision(source, git="") == "v1.2.3"
