"""A stand-in for fdapp under run/scaling: it knows how long each run takes, and fails as its environment says."""

import csv
from pathlib import Path

DRIVER = Path(__file__).parents[2] / "run" / "scaling"

PROGRAM = """#!{python}
import configparser, json, os, pathlib, signal, sys, time
sys.stdin.read() if "READS" in os.environ else None
if "--version" in sys.argv:
    print("fdapp 0.0, revision", os.environ.get("REVISION", "a")); sys.exit(0)
if "--list" in sys.argv:
    print("Backends", *os.environ.get("BACKENDS", "cpu").split(), sep="\\n  "); print("Keys"); sys.exit(0)
if "--validate" in sys.argv:
    bad = "nonsense" in " ".join(sys.argv); print("fdapp: error: unknown key" if bad else "", file=sys.stderr)
    sys.exit(2 * bad)
parser = configparser.ConfigParser(inline_comment_prefixes=";", strict=False)
parser.read_string("\\n".join(line.strip() for line in open(sys.argv[1], encoding="utf-8-sig").read().split("\\n")))
keys = {{f"{{section}}.{{key}}": text for section in parser.sections() for key, text in parser[section].items()}}
keys |= dict(word.split("=", 1) for word in sys.argv[2:])
log = pathlib.Path(os.environ["LOG"]); log.write_text(log.read_text() + " ".join(sys.argv[2:]) + "\\n")
if os.environ.get("TOO_LARGE", "") == "grid.nx=" + keys["grid.nx"] + " " + os.environ["RANKS"]:
    print("fdapp: error: memory: 9 GiB needed"); sys.exit(3)
if log.read_text().count("\\n") > int(os.environ.get("FAIL_AFTER", 99)):
    print("no memory"); sys.exit(int(os.environ["CODE"]))
(log.parent / "pid").write_text(str(os.getpid()))
time.sleep(float(os.environ.get("SECONDS", 0)))
if os.environ.get("WARN") == os.environ["RANKS"]:
    print("fdapp: warning: two share one", file=sys.stderr)
if float(keys.get("output.wall_limit", 0)) > 0:
    print("fdapp: error: stopped: run again to resume"); sys.exit(75)
ranks = int(os.environ["RANKS"])
steps = int(keys["time.steps"]) if keys.get("restart.from", "none") == "none" else 0
grid = [int(keys["grid.n" + axis]) for axis in "xyz"]
spread = dict(min=0.5, mean=1.0, max=2.0)
perf = dict(backend="cpu", ranks=ranks, threads=int(keys.get("compute.threads", 1)), overlap=True, grid=grid,
            transport=dict(name="wire"),
            precision=keys["compute.precision"], scheme="rk4", steps=steps, words_per_point_and_step=11,
            stages_per_step=4, words_per_point_and_last_stage=3,
            phases=dict(halo_wait=spread), stage=dict(edges=spread, interior=spread, halo=spread),
            seconds_per_step=1.0 / ranks if steps else 0.0, points_per_second=5.0,
            ceiling_bytes_per_second=9.0, share_of_ceiling=0.5)
out = pathlib.Path(keys["output.directory"]); out.mkdir(parents=True)
(out / "perf.json").write_text(json.dumps(perf))
"""


def rows(study):
    """The rows of the study's table."""
    with open(study.out / "results.csv", newline="") as file:
        return list(csv.DictReader(file))
