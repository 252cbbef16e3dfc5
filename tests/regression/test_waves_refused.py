"""What `physics.equation = wave` refuses: values, files, ends, and keys of a medium that nothing reads.

FDAPP: the program. MPIEXEC: the launcher with its options.
"""

import h5py
import numpy as np
import pytest
from test_waves import BASE

from program import complaints, launch, merged, run, write_ini


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"time": {"scheme": "rk4"}}, "accepted: leapfrog, leapfrog4"),
        ({"time": {"adaptive": "yes", "courant": 0.5}}, "waves have one step size"),
        ({"physics": {"equation": "acoustics"}, "time": {"scheme": "leapfrog", "courant": 0.5}}, "wave alone"),
        ({"physics": {"sound_speed": 0}}, "sound_speed = 0"),
        ({"medium": {"sound_speed": "x - 0.5"}}, "the speed is"),
        ({"medium": {"sound_speed": "1/x"}}, "medium.sound_speed"),
        ({"medium": {"sound_speed": "1 +"}}, "medium.sound_speed"),
        ({"medium": {"sound_speed": "1", "file": "c.h5"}}, "one of the two"),
        ({"medium": {"average": "none"}}, "cell, point"),
        ({"point_sources": {"points": "0.5 0.5"}}, "three coordinates"),
        ({"point_sources": {"points": "0.5 0.5 2.1"}}, "0 to 1.9"),
        ({"point_sources": {"points": "0.5 -0.1 1"}}, "outside the domain"),
        ({"point_sources": {"points": "0.5 0.5 1", "file": "a.h5"}}, "one of the two"),
        ({"point_sources": {"points": "0.5 0.5 1", "frequency": 100.0}}, "the highest frequency of the grid"),
        ({"point_sources": {"points": "0.5 0.5 1", "frequency": 0}}, "frequency = 0"),
        ({"point_sources": {"points": "0.5 0.5 1", "amplitude": "1 2"}}, "2 numbers for 1 point; accepted"),
        ({"point_sources": {"points": "0.5 0.5 1", "amplitude": "0x10"}}, "not a list of numbers: 0x10;"),
        (
            {"point_sources": {"points": "0.5 0.5 1", "amplitude": "one"}},
            "not a list of numbers: one; accepted: numbers with blanks",
        ),
        ({"point_sources": {"points": "0.5 0.5 1", "amplitude": "nan"}}, "amplitude: number 1 is nan"),
        ({"point_sources": {"points": "0.5 0.5 1", "amplitude": "1e31"}}, "is 1e+31; accepted: -1e+30 to 1e+30"),
        ({"point_sources": {"points": "0.5 0.5 1", "delay": -1}}, "delay = -1"),
        ({"point_sources": {"points": "0.5 0.5 1", "wavelet": "morlet"}}, "ricker, gaussian, sine, file"),
        ({"point_sources": {"points": "0.5 0.5 1", "wavelet": "file"}}, "both or none"),
        ({"point_sources": {"points": "0.5 0.5 1", "weights": "linear"}}, "lagrange, sinc"),
        ({"receivers": {"points": "1.5 0.5 1"}}, "outside the domain"),
        ({"receivers": {"points": "0.5 0.5 1", "every": 0}}, "every = 0"),
        ({"boundary": {"x": "open"}}, "accepted: periodic, wall, free, absorbing, layer"),
        ({"boundary": {"x": "layer"}}, "accepted: at least 29"),
        ({"boundary": {"x_low": "layer", "x_high": "wall", "layer_points": 11}}, "accepted: at least 20"),
        ({"boundary": {"z": "layer", "layer_points": 0}}, "layer_points = 0"),
        ({"boundary": {"z": "layer", "layer_points": 2.5}}, "layer_points = 2.5"),
        ({"boundary": {"z": "layer", "layer_reflection": 1}}, "layer_reflection = 1"),
        ({"boundary": {"z": "layer", "layer_reflection": 0}}, "layer_reflection = 0"),
        (
            {"boundary": {"z": "layer"}, "point_sources": {"points": "0.5 0.5 0.5"}},
            "accepted: 0.575757575757576 to 1.32424242424242",
        ),
        ({"boundary": {"z": "layer"}, "receivers": {"points": "0.5 0.5 1; 0.5 0.5 1.4"}}, "number 2 has z = 1.4"),
        ({"boundary": {"x": "layer"}, "physics": {"equation": "acoustics"}, "time": {"courant": 0.5}}, "x = layer"),
        ({"grid": {"nx": 8}}, "nx = 8"),
        ({"time": {"courant": 0.5, "dt": 0.1}}, "dt"),
    ],
)
def test_refused(tmp_path, change, said):
    write_ini(tmp_path / "run.ini", merged(BASE, change))
    for option in ((), ("--validate",)):
        assert said in "\n".join(complaints(launch(tmp_path, 1, *option, "run.ini", code=2)))
    assert [path.name for path in tmp_path.iterdir()] == ["run.ini"]


FILES = [
    ("point_sources", "file", {}),
    ("point_sources", "wavelet_file", {"points": "0.5 0.5 1", "wavelet": "file"}),
    ("receivers", "file", {}),
    ("medium", "file", {}),
    ("source", "file", {}),
]


@pytest.mark.parametrize(("section", "key", "more"), FILES)
def test_files_that_cannot_be_read(tmp_path, section, key, more):
    """A run writes nothing then, and --validate says the same."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.h5").write_bytes(b"none")
    for name in ("missing.h5", "bad.h5", "empty"):
        write_ini(tmp_path / "run.ini", merged(BASE, {section: more | {key: name}}))
        code = 2 if key == "wavelet_file" and name == "bad.h5" else 3
        said = [complaints(launch(tmp_path, 1, *option, "run.ini", code=code)) for option in ((), ("--validate",))]
        assert f"{section}.{key} = {name}" in said[0][-1] and said[0] == said[1]
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(("section", "key", "more"), FILES)
def test_results_of_the_run_itself_are_no_input(tmp_path, section, key, more):
    """The run would move them away."""
    (tmp_path / "runs" / "run").mkdir(parents=True)
    write_ini(tmp_path / "run.ini", merged(BASE, {section: more | {key: "runs/run/receivers.h5"}}))
    (tmp_path / "runs" / "run" / "receivers.h5").write_bytes(b"")
    for option in ((), ("--validate",)):
        said = launch(tmp_path, 1, *option, "run.ini", code=2).stderr
        assert f"{section}.{key} = runs/run/receivers.h5: a result in output.directory" in said


def test_keys_of_a_medium_that_nothing_reads(tmp_path):
    speed, resample, average = {"sound_speed": "2"}, {"resample": "yes"}, {"average": "point"}
    for keys, idle in ((speed | resample | average, ["resample"]), (resample | average, ["resample", "average"])):
        write_ini(tmp_path / "run.ini", merged(BASE, {"medium": keys}))
        said = launch(tmp_path, 1, "--validate", "run.ini").stderr
        assert [key for key in keys if f"medium.{key}" in said] == idle
    with h5py.File(tmp_path / "c.h5", "w") as file:
        file["c"] = np.full((34, 18, 19), 1.5)
    for keys, idle in ((average, ["average"]), (resample | average, [])):
        write_ini(tmp_path / "run.ini", merged(BASE, {"medium": {"file": "c.h5"} | keys}))
        said = launch(tmp_path, 1, "--validate", "run.ini").stderr
        assert [key for key in keys if f"medium.{key}" in said] == idle


@pytest.mark.parametrize("change", [{"resample": "yes"}, {"resample": "yes", "average": "point"}])
def test_values_of_a_file_of_another_grid(tmp_path, change):
    """They are refused as the file has them, with their place there: means over cells would hide one of them. The same
    one is named with any number of ranks."""
    for shape, at, value in (((68, 36, 38), (41, 3, 2), 0.0), ((24, 12, 13), (11, 11, 0), -1.0)):
        c = np.full(shape, 1.5)
        c[at] = c[at[0] + 2, 0, 0] = value
        with h5py.File(tmp_path / "c.h5", "w") as file:
            file["c"] = c
        write_ini(tmp_path / "run.ini", merged(BASE, {"medium": {"file": "c.h5"} | change}))
        place = f"dataset c is {value:g} at [{at[0]}, {at[1]}, {at[2]}] (z, y, x); accepted: 1e-09 to 1e+09"
        for ranks, option in ((1, ("--validate",)), (3, ())):
            said = complaints(launch(tmp_path, ranks, *option, "run.ini", code=2))
            errors = [line for line in said if line.startswith("fdapp: error: ")]
            assert errors == [f"fdapp: error: medium.file = c.h5: {place}"]
    assert not (tmp_path / "runs").exists()


def test_another_step_is_refused_when_resuming(tmp_path):
    run(tmp_path / "run", merged(BASE, {"time": {"steps": 4}}))
    other = merged(BASE, {"time": {"courant": 0.9}, "restart": {"from": "latest"}})
    result = run(tmp_path / "run", other, code=2)
    assert "its steps have dt =" in "\n".join(complaints(result))


def test_slabs_of_fewer_planes_than_a_step_reads_are_refused(tmp_path):
    write_ini(tmp_path / "run.ini", merged(BASE, {"grid": {"nz": 23}}))
    assert "accepted: at least 8 with leapfrog4" in launch(tmp_path, 3, "run.ini", code=2).stderr


def test_points_on_a_free_end_are_named(tmp_path):
    points = {
        "point_sources": {"points": '"0.5 0.4 0; 0.5 0.4 1"', "frequency": 3},
        "receivers": {"points": '"0.5 0.4 0"'},
    }
    for kind, warned in (("free", True), ("wall", False)):
        write_ini(tmp_path / "run.ini", merged(BASE, points, {"initial": {"formula": "0"}, "boundary": {"z": kind}}))
        said = launch(tmp_path, 1, "--validate", "run.ini").stderr
        assert ("1 of 2 sources: on a free end" in said) == ("1 of 1 receivers: on a free end" in said) == warned
