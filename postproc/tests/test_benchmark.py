"""run/benchmark with a stand-in for the program that says what a run of each deck would; the plot of its curve."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fdpost import throughput

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
PROGRAM = """#!{python}
import configparser, json, os, pathlib, sys
if "--version" in sys.argv:
    print("fdapp 0.0"); sys.exit(0)
if "--list" in sys.argv:
    print("Backends", "  cpu", "Keys", sep="\\n"); sys.exit(0)
parser = configparser.ConfigParser(inline_comment_prefixes=";")
parser.read(sys.argv[1])
keys = {{f"{{section}}.{{key}}": text for section in parser.sections() for key, text in parser[section].items()}}
keys |= dict(word.split("=", 1) for word in sys.argv[2:] if "=" in word)
grid = [int(keys["grid.n" + axis]) for axis in "xyz"]
if "--validate" in sys.argv:
    print("grid       {{}} x {{}} x {{}} = 1 points".format(*grid))
    print("memory     per rank 1 GiB on the host, 0 B on a device (3 fields)")
    print("memory     1 GiB needed by this node's ranks, 40 GiB free on this node"); sys.exit(0)
log = pathlib.Path(os.environ["LOG"]); log.write_text(log.read_text() + " ".join(sys.argv[1:]) + "\\n")
run = log.read_text().count("\\n")
precision, steps = keys["compute.precision"], int(keys["time.steps"])
published = "none" if "benchmark.reference" not in keys else "c0ffee"
found = os.environ.get("HASHES", "c0ffee").split()[run % len(os.environ.get("HASHES", "c0ffee").split())]
perf = dict(backend="cpu", ranks=int(os.environ["RANKS"]), threads=1, device="a CPU", grid=grid, steps=steps,
            precision=precision, scheme="rk4", order=8, transport=dict(name="wire"), share_of_ceiling=0.5,
            phases=dict(steps=dict(max=2.0)), figure_of_merit=1e6 * run, hash=found,
            verified=None if keys.get("benchmark.reference", "none") == published == "none" else found == published)
perf |= dict(energy=dict(joules=8.0, method="made up")) if "JOULES" in os.environ else dict(energy=None)
out = pathlib.Path(keys["output.directory"]); out.mkdir(parents=True)
(out / "perf.json").write_text(json.dumps(perf))
sys.exit(int(os.environ.get("CODE", 5 * (perf["verified"] is False))))
"""
DECK = "[grid]\nnx = 8\nny = 10\nnz = 12\n[time]\nsteps = 7\n"


@pytest.fixture
def benchmark(tmp_path):
    """Call the driver; returns (finished process, results)."""
    program = tmp_path / "fdapp"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    (tmp_path / "own.ini").write_text(DECK)
    (tmp_path / "known.ini").write_text(DECK + "[benchmark]\nreference = c0ffee\n")

    def call(*arguments, **env):
        (tmp_path / "log").write_text("")
        words = [sys.executable, ROOT / "run/benchmark", *arguments, "--fdapp", program, "--out", tmp_path / "out"]
        words += ["--launcher", "env RANKS={ranks}"]
        environment = {"PATH": "/usr/bin:/bin", "LOG": str(tmp_path / "log"), **env}
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
        path = tmp_path / "out" / "benchmark.json"
        return done, json.loads(path.read_text())["results"] if path.exists() else None

    call.log = tmp_path / "log"
    return call


def test_median_spread_and_energy(benchmark):
    """Figures of merit 1, 2, 3 million: median 2, spread 1; 8 J in 2 s: 4, 2 and 1.33 J per million updates."""
    done, (result,) = benchmark("known.ini", "--precision", "double", "--ranks", "3", JOULES="yes")
    assert done.returncode == 0, done.stderr
    assert (result["figure_of_merit"], result["spread"], result["ranks"]) == (2e6, 1.0, 3)
    assert result["joules_per_million_point_updates"] == pytest.approx(2.0)
    line = next(line for line in done.stdout.splitlines() if line.startswith("known  "))
    assert line.split() == ["known", "8x10x12", "double", "3", "2.000e+06", "100.0", "%", "50.0", "%", "passed", "2"]


def test_without_a_meter_no_energy_is_made_up(benchmark):
    done, (result,) = benchmark("known.ini", "--precision", "double", "--ranks", "1", "--repeat", "1")
    assert result["joules_per_million_point_updates"] is None
    assert done.stdout.splitlines()[3].endswith("not read")


@pytest.mark.parametrize("deck, hashes, verdict, code", [
    ("known", "c0ffee", "passed", 0), ("known", "c0ffee bad", "FAILED", 5),
    ("own", "any", "agree", 0), ("own", "any other", "DIFFER", 5),
])  # fmt: skip
def test_verdict(benchmark, deck, hashes, verdict, code):
    done, (result,) = benchmark(f"{deck}.ini", "--precision", "double", "--ranks", "2", "--repeat", "2", HASHES=hashes)
    assert (done.returncode, result["verified"]) == (code, verdict), done.stderr


def test_one_run_without_a_reference_agrees_with_nothing(benchmark):
    done, (result,) = benchmark("own.ini", "--precision", "double", "--ranks", "2", "--repeat", "1")
    assert (done.returncode, result["verified"]) == (0, "no reference"), done.stderr


def test_memory_deck_fills_the_share_and_keeps_the_spacing(benchmark):
    """Half of 40 GiB over 4 ranks, three arrays of 1024 x 1024: 213 planes each in double, 426 in single; less 8."""
    done, _ = benchmark("memory", "--ranks", "4", "--repeat", "1")
    assert done.returncode == 0, done.stderr
    planes = [4 * (213 - 8), 4 * (426 - 8)]
    for line, nz in zip(benchmark.log.read_text().splitlines(), planes, strict=True):
        assert f"grid.nz={nz} grid.lz={nz / 1024!r} " in line


def test_requests(benchmark):
    for words, message in (
        (["nonsense"], "neither one of tiny"),
        (["tiny", "--precision", "half"], "single and double"),
        (["tiny", "--throughput"], "of deck small"),
        (["tiny", "--sizes", "16"], "give --throughput"),
    ):
        done, _ = benchmark(*words)
        assert done.returncode == 2 and message in done.stderr
    done, results = benchmark("own.ini", CODE="3")
    assert (done.returncode, results) == (3, None)
    done, results = benchmark("known.ini", CODE="137")  # what mpirun says of a rank that was killed
    assert (done.returncode, results) == (3, None) and "exit code 137" in done.stderr


def test_throughput(benchmark, tmp_path, fdplot):
    done, results = benchmark("--throughput", "--sizes", "16,32", "--ranks", "2", "--repeat", "2", MPLBACKEND="agg")
    assert done.returncode == 0, done.stderr
    assert [(r["grid"][0], r["precision"]) for r in results] == [(n, p) for p in ("double", "single") for n in (16, 32)]
    assert (tmp_path / "out" / "throughput.png").stat().st_size > 10000
    first = benchmark.log.read_text().splitlines()[0]
    assert f"time.dt={0.3 / 16!r} time.steps=2000" in first
    curve = throughput.draw_throughput(results).axes[0].containers[0]
    assert [tuple(point) for point in curve.lines[0].get_xydata()] == [(16**3, 1.5e6), (32**3, 3.5e6)]
    (tmp_path / "benchmark.json").write_text('{"results": []}')
    assert fdplot("throughput", tmp_path)[0] == 3


@pytest.mark.skipif("FDAPP" not in os.environ, reason="FDAPP does not name the program")
def test_tiny_on_one_and_three_ranks(tmp_path):
    """The published hashes, by the program itself, within seconds; another scheme has another answer."""
    words = [sys.executable, ROOT / "run/benchmark", "tiny", "--repeat", "1", "--backend", "cpu"]
    words += ["--fdapp", os.environ["FDAPP"], "--ranks"]
    for ranks in ("1", "3"):
        out = tmp_path / ranks
        done = subprocess.run([*words, ranks, "--out", out], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        results = json.loads((out / "benchmark.json").read_text())["results"]
        assert [result["verified"] for result in results] == ["passed", "passed"]
    deck = (ROOT / "config/benchmark/tiny.ini").read_text().replace("scheme = rk4", "scheme = ck45")
    (tmp_path / "tiny.ini").write_text(deck)
    words[2] = tmp_path / "tiny.ini"
    done = subprocess.run([*words, "2", "--out", tmp_path / "other"], capture_output=True, text=True, check=False)
    assert done.returncode == 5 and "FAILED" in done.stdout
