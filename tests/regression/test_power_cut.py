"""What is on the disk when the power goes: the order in which the program brings things there, from a preloaded library
that notes its calls."""

import os
import re
import shutil
import subprocess

import pytest

from program import BASE, command, merged, write_ini

NOTES = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void note(const char *what, const char *path) {
  FILE *notes = fopen(getenv("NOTES"), "a");
  if (notes == NULL) abort();
  fprintf(notes, "%s %s\n", what, path);
  fclose(notes);
}

int fsync(int descriptor) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  char link[64], path[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  if (readlink(link, path, sizeof path - 1) < 0) abort();
  note("fsync", path);
  return real(descriptor);
}

int rename(const char *from, const char *to) {
  int (*real)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
  note("rename", to);
  return real(from, to);
}
"""


@pytest.fixture
def notes(tmp_path):
    """The calls of a run that writes rows and states at steps 0, 5 and 7, in order."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler here")
    if "libasan" in subprocess.run(["ldd", os.environ["FDAPP"]], capture_output=True, text=True, check=True).stdout:
        pytest.skip("the sanitizer wants to be the first library")
    (tmp_path / "notes.c").write_text(NOTES)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "notes.so", "notes.c", "-ldl"], cwd=tmp_path, check=True)
    seven = {"grid": {"nx": 16, "ny": 12, "nz": 13}, "time": {"steps": 7}}
    output = {"output": {"directory": "run", "fields_every": 5, "diagnostics_every": 1}}
    write_ini(tmp_path / "case.ini", merged(BASE, seven, output))
    environment = os.environ | {"LD_PRELOAD": f"{tmp_path}/notes.so", "NOTES": f"{tmp_path}/notes"}
    subprocess.run(command(1, "case.ini"), cwd=tmp_path, env=environment, check=True, timeout=60, capture_output=True)
    calls = [line.split(" ", 1) for line in (tmp_path / "notes").read_text().splitlines()]
    return [f"{what} {os.path.basename(path)}" for what, path in calls]


def test_rows_are_on_the_disk_before_their_state(notes):
    since = notes
    for step in (0, 5, 7):
        named = since.index(f"rename state_0000000{step}.hdf")
        assert "fsync diagnostics.csv" in since[:named]
        since = since[named:]


def test_a_state_is_on_the_disk_before_its_name_and_the_name_after_it(notes):
    for step in (0, 5, 7):
        named = notes.index(f"rename state_0000000{step}.hdf")
        assert f"fsync state_0000000{step}.hdf.partial" in notes[:named]
        assert re.match(r"fsync run$", notes[named + 1])
