"""`physics.equation = wave`, with absorbing layers too, sources, and sound in a medium on a device: the answer of the
CPU, on one and several ranks, resumed, and the same traces. Statistics likewise. What the plan says of stages in pairs.

FDAPP: the program with the emulated device. MPIEXEC: the launcher with its options.
"""

import pytest
import test_sound_media
import test_statistics
from test_source import FLOW, SOUND, STILL, WAVES
from test_waves import MIXED, SOURCED

from program import hash_of, merged, run

DEVICE = {"compute": {"backend": "cuda"}}


CASES = {
    "periodic": ("double", {}),
    "mixed": ("double", MIXED[8]),
    "layers": ("single", {"x": "layer", "y": "layer", "z": "layer", "layer_points": 3}),
    "some layers": ("double", {"x_low": "layer", "x_high": "free", "y_low": "wall", "y_high": "layer",
                               "z_low": "absorbing", "z_high": "layer", "layer_points": 2}),
    "periodic z": ("single", {"x_low": "wall", "x_high": "layer", "y": "layer", "layer_points": 2}),
}  # fmt: skip
SOURCES_INSIDE = '"0.31 0.4 1.1; 0.33 0.41 0.93"'  # of layers
RECEIVERS_INSIDE = '"0.6 0.3 0.5; 0.7 0.5 0.95"'


@pytest.mark.parametrize("scheme", ["leapfrog", "leapfrog4"])
@pytest.mark.parametrize("case", CASES)
def test_the_answer_is_that_of_the_cpu(tmp_path, scheme, case):
    """A source lies at the edge of slabs, so that two ranks have a part of it."""
    precision, boundary = CASES[case]
    configuration = merged(SOURCED, {"time": {"scheme": scheme, "steps": 9}, "boundary": boundary})
    configuration = merged(configuration, {"compute": {"precision": precision}})
    if "layer_points" in boundary:
        places = {"point_sources": {"points": SOURCES_INSIDE}, "receivers": {"points": RECEIVERS_INSIDE}}
        configuration = merged(configuration, places)
    configuration = merged(configuration, {"output": {"diagnostics_every": 4}})
    hashes, traces, tables = set(), set(), set()
    for ranks, change in ((1, {}), (1, DEVICE), (3, DEVICE)):
        folder = tmp_path / f"{change.get('compute', {}).get('backend', 'cpu')}{ranks}"
        hashes.add(hash_of(run(folder, merged(configuration, change), ranks=ranks)))
        traces.add((folder / "receivers.h5").read_bytes())
        tables.add((folder / "diagnostics.csv").read_text())
    folder = tmp_path / "resumed"
    run(folder, merged(configuration, DEVICE, {"time": {"steps": 6}}), ranks=2)
    hashes.add(hash_of(run(folder, merged(configuration, DEVICE, {"restart": {"from": "latest"}}))))
    traces.add((folder / "receivers.h5").read_bytes())
    tables.add((folder / "diagnostics.csv").read_text())
    assert (len(hashes), len(traces), len(tables)) == (1, 1, 1)


SOURCES = {"advection": STILL, "sound": SOUND, "wave": WAVES, "flow": FLOW}


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("name", SOURCES)
def test_sources_have_the_answer_of_the_cpu(tmp_path, name, precision):
    """One rank replays a recorded step, whose factors differ from step to step; two ranks do not."""
    change = {"source": {"formula": "1+0.5*sin(2*pi*x)*cos(2*pi*z/lz)", "factor": "1+cos(9*t)"}}
    problem = merged(SOURCES[name], change, {"compute": {"precision": precision}})
    expected = hash_of(run(tmp_path / "cpu", problem))
    for ranks in (1, 2):
        assert hash_of(run(tmp_path / f"{ranks}", merged(problem, DEVICE), ranks=ranks)) == expected


@pytest.mark.parametrize("precision", ["double", "single"])
def test_statistics_are_those_of_the_cpu(tmp_path, precision):
    configuration = merged(test_statistics.SOUND, {"compute": {"precision": precision}, "output": {"fields_every": 12}})
    found = []
    for ranks, change in ((1, {}), (1, DEVICE), (2, DEVICE)):
        folder = tmp_path / f"{len(found)}"
        run(folder, merged(configuration, change), ranks=ranks)
        found.append(test_statistics.contents(folder / test_statistics.LAST))
    assert len(found[0]) == 9 and found[1] == found[0] and found[2] == found[0]


def test_the_plan_says_why_stages_are_not_pairs(tmp_path):
    """A device computes two stages in one sweep, and with a source one; the CPU has no such sweeps to give up."""
    change = {"compute": {"pairs": "yes"}, "time": {"scheme": "rk4", "steps": 1}}
    device, cpu = merged(STILL, DEVICE, change), merged(STILL, change)
    without = {"source": {"formula": "none"}}
    expected = (
        (merged(device, without), "two in one sweep"),
        (device, "one by one: there is a source"),
        (merged(device, {"source": {"factor": "cos(t)"}}), "one by one: the right-hand side depends on time"),
        (merged(device, {"compute": {"pairs": "no"}}), "one by one: as compute.pairs says"),
        (cpu, None),
        (merged(cpu, without), None),
    )
    for i, (configuration, words) in enumerate(expected):
        said = run(tmp_path / str(i), configuration).stdout.splitlines()
        lines = [line for line in said if line.startswith("stages ")]
        assert lines == ([f"stages     {words}"] if words else [])
    for i, (configuration, deeper) in enumerate(((merged(device, without), True), (device, False))):
        said = run(tmp_path / f"ranks{i}", configuration, ranks=2).stdout
        assert ("more for stages in pairs" in said) == deeper


@pytest.mark.parametrize(("precision", "difference"), [("double", "upwind"), ("single", "central")])
def test_sound_in_a_medium_has_the_answer_of_the_cpu(tmp_path, precision, difference):
    """Ends of all kinds, which take the impedance of their points; a source and a receiver; the energy."""
    problem = merged(
        test_sound_media.BASE,
        {"medium": test_sound_media.FORMULAS, "boundary": test_sound_media.MIXED[4]},
        {"compute": {"precision": precision}, "physics": {"difference": difference}},
        {"point_sources": {"points": '"0.31 0.4 0.95"', "frequency": 2.0}, "receivers": {"points": '"0.6 0.3 0.5"'}},
    )
    answers = set()
    for ranks, change in ((1, {}), (1, DEVICE), (3, DEVICE)):
        folder = tmp_path / f"{'device' if change else 'cpu'}{ranks}"
        answers.add(
            (
                hash_of(run(folder, merged(problem, change), ranks=ranks)),
                (folder / "receivers.h5").read_bytes(),
                (folder / "diagnostics.csv").read_text(),
            )
        )
    folder = tmp_path / "resumed"
    run(folder, merged(problem, DEVICE, {"time": {"steps": 3}}), ranks=2)
    resumed = hash_of(run(folder, merged(problem, DEVICE, {"restart": {"from": "latest"}})))
    answers.add((resumed, (folder / "receivers.h5").read_bytes(), (folder / "diagnostics.csv").read_text()))
    assert len(answers) == 1
