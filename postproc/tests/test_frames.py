"""What a run shows: its kept snapshots, in fields/ or beside the checkpoints; else its slices; else its checkpoints.
Every kind of file by itself."""

import re
from pathlib import Path

import h5py
import numpy as np
import pytest
import synthetic
from PIL import Image

import fdpost
from fdpost import Run, UsageError, meaning, movie, slices, spectrum, watch

pytestmark = pytest.mark.quick

SHAPE = (12, 8, 16)


@pytest.fixture
def drawn(monkeypatch):
    """What would be drawn by fdplot slices: (run, states, cuts, {field: values}) of each picture."""
    pictures = []
    monkeypatch.setattr(slices, "draw_slices", lambda run, states, cuts, shown, *_: pictures.append(
        (run, states, cuts, shown)))  # fmt: skip
    monkeypatch.setattr("fdpost.style.save", lambda figure, path: path)
    return pictures


def steps(frames):
    return [frame.step for frame in frames]


def test_the_kept_snapshots_are_those_in_fields(tmp_path, fdplot, drawn):
    run = synthetic.write_part_run(tmp_path / "run", every=2, single=True)
    assert steps(Run(run).states) == [0, 10, 20] and Run(run).states[0].size == (8, 4, 6)
    assert steps(Run(run / "fields").states) == [0, 10, 20] and Run(run / "fields").name == "run"
    code, out, err = fdplot("slices", run, "--field", "gradient", "--axis", "z")
    assert (code, out, err) == (0, f"{run / 'slices_gradient.png'}\n", "")
    (_, states, cuts, shown) = drawn[0]
    assert steps(states) == [0, 10, 20] and cuts == [(2, 3)]
    expected = (synthetic.pulse(SHAPE, 0.1) ** 2)[6, ::2, ::2].astype("f4")
    assert np.array_equal(shown["gradient"][0][1], expected)


def test_pictures_of_a_part_say_of_how_many_points(tmp_path):
    run = synthetic.write_part_run(tmp_path / "run", every=2)
    assert slices.points_shown(Run(run).states[0]) == "8 × 4 × 6 of 16 × 8 × 12 points"
    assert slices.points_shown(Run(run).whole[0]) == "16 × 8 × 12 points"


def test_checkpoints_are_no_frames_but_can_be_named(tmp_path, fdplot, drawn):
    run = synthetic.write_run(tmp_path / "run", shape=(4, 6, 8), steps=(0, 10, 15, 20))
    synthetic.mark(run / "state_00000015.hdf", picture=0)
    assert steps(Run(run).states) == [0, 10, 20]
    assert fdplot("slices", run, "--steps", "15,20")[0] == 0 and steps(drawn[0][1]) == [15, 20]
    code, _, err = fdplot("slices", run, "--steps", "11")
    assert code == 2 and "no state of step 11; there are: 0, 10, 15, 20" in err


def test_checkpoints_of_another_number_of_points_are_drawn_by_themselves(tmp_path, fdplot, drawn):
    run = synthetic.write_part_run(tmp_path / "run", every=2)
    assert fdplot("slices", run, "--steps", "15")[0] == 0 and drawn[0][1][0].size == SHAPE[::-1]
    assert "no state of step 15; there are: 0, 10, 20" in fdplot("slices", run, "--steps", "10,15")[2]


def test_checkpoints_are_shown_where_nothing_is_kept_and_it_is_said(tmp_path, fdplot, drawn):
    run = synthetic.write_part_run(tmp_path / "run", kept=())
    code, _, err = fdplot("slices", run)
    assert code == 0 and steps(drawn[0][1]) == [15, 25]
    assert "note:" in err and "keeps no snapshots; these are its checkpoints" in err
    assert steps(Run(run).states) == [15, 25]


def test_statistics_alone_are_named(tmp_path, fdplot, drawn):
    run = synthetic.write_run(tmp_path / "run", steps=(10,))
    (run / "state_00000010.hdf").rename(run / "statistics_00000010.hdf")
    (run / "state.hdf.series").unlink()
    code, _, err = fdplot("slices", run)
    assert code == 3 and f"there are statistics, {run}/statistics_00000010.hdf, to be named as a file" in err
    assert fdplot("slices", run / "statistics_00000010.hdf")[0] == 0 and len(drawn) == 1


def test_a_run_that_changed_to_parts_says_what_it_does_not_show(tmp_path, fdplot, drawn):
    run = synthetic.write_part_run(tmp_path / "run", kept=(20, 30), checkpoints=(0, 10, 35))
    for step in (0, 10):
        synthetic.mark(run / f"state_{step:08d}.hdf", picture=1)
    code, _, err = fdplot("slices", run)
    assert code == 0 and steps(drawn[0][1]) == [20, 30] and "2 snapshots in fields/ and 2 of all points" in err
    synthetic.mark(run / "state_00000035.hdf", picture=1)
    assert steps(Run(run).states) == [0, 10, 35]


def test_a_movie_of_parts_and_of_slices(tmp_path, fdplot):
    run = synthetic.write_part_run(tmp_path / "run", every=2)
    assert fdplot("movie", run, "--field", "gradient")[::2] == (0, "")
    with Image.open(run / "movie_gradient.gif") as made:
        assert made.n_frames == 3
    only = tmp_path / "only"
    only.mkdir()
    for step in (0, 5, 10, 15):
        synthetic.write_slice(only, 0, 3, step, phi=np.full((20, 16), step), gradient=np.ones((20, 16)))
    code, _, err = fdplot("movie", only)
    assert code == 0 and "keeps no snapshots; these are its slices" in err
    with Image.open(only / "movie.gif") as made:
        assert made.n_frames == 4
    assert movie.axis(Run(only).frames[0], None) == "x"
    for step in (0, 5, 10, 15):
        synthetic.write_slice(run, 0, 3, step, SHAPE[::-1], phi=np.ones(SHAPE[:2]))
    assert f"3 snapshots; of slices there are 4 steps: fdplot movie {run / 'slices'}" in fdplot("movie", run)[2]
    code, _, err = fdplot("movie", run / "slices")
    assert code == 0 and "of slices" not in err


def test_slices_of_a_run_that_keeps_nothing_else(tmp_path, fdplot, drawn):
    only = tmp_path / "only"
    only.mkdir()
    plane = np.arange(20.0 * 16).reshape(20, 16)
    for step in (0, 5, 10):
        synthetic.write_slice(only, 0, 3, step, phi=plane + step)
        synthetic.write_slice(only, 2, 7, step, phi=np.ones((16, 24)))
    (only / "config.ini").write_text("[grid]\nnx = 24\nny = 16\nnz = 20\n")
    assert fdplot("slices", only)[0] == fdplot("slices", only / "slices", "--axis", "x", "--index", 3)[0] == 0
    (_, states, cuts, shown), (_, _, one, _) = drawn
    assert steps(states) == [0, 5, 10] and cuts == [(0, 3), (2, 7)] and one == [(0, 3)]
    assert np.array_equal(shown["phi"][0][2], plane + 10)
    for words in (["--axis", "y"], ["--axis", "x", "--index", "4"], ["--project"]):
        code, _, err = fdplot("slices", only, *words)
        assert code == 2 and "there are slices alone: x = 0.125, z = 0.35" in err
    code, _, err = fdplot("spectrum", only)
    assert code == 3 and "there are slices alone" in err


def test_slices_of_another_configuration_do_not_count(tmp_path):
    """A run resumed with another slice: the newest steps lack the first one."""
    for step in (0, 5):
        synthetic.write_slice(tmp_path, 0, 3, step, phi=np.ones((20, 16)))
    for step in (5, 10):
        synthetic.write_slice(tmp_path, 2, 7, step, phi=np.ones((16, 24)))
    assert Run(tmp_path).slice_steps == [5]
    (tmp_path / "config.ini").write_text("[grid]\nnx = 24\nny = 16\nnz = 20\n[output]\nslices = z=7\n")
    assert Run(tmp_path).slice_steps == [5, 10] and Run(tmp_path).newest().cuts == [(2, 7)]


def every_kind(path):
    """One file of each kind that fdapp or fdpost writes, with the fields in it."""
    run = synthetic.write_part_run(path / "part", every=2, single=True)
    box = synthetic.write_part_run(path / "box", box=(slice(2, 8), slice(1, 5), slice(3, 9)))
    plane = np.arange(20.0 * 16).reshape(20, 16)
    whole = {"phi": plane, "gradient": plane + 1, "intensity_x": plane, "intensity_y": plane, "intensity_z": plane}
    yield run / "state_00000015.hdf", "phi"
    yield run / "fields/state_00000010.hdf", "gradient"
    yield box / "fields/state_00000010.hdf", "gradient"
    yield synthetic.write_waves(path / "waves") / "state_00000001.hdf", "w"
    yield synthetic.write_slice(run, 0, 3, 10, **whole), "intensity"
    (path / "moved").mkdir()
    yield synthetic.write_slice(path / "moved", 0, 3, 10, **whole), "gradient"  # no configuration is known
    yield fdpost.write_field(path / "start.hdf", np.random.default_rng(1).normal(size=(4, 5, 6))), "phi"


def test_every_kind_of_file_can_be_drawn(tmp_path, fdplot):
    for path, field in every_kind(tmp_path):
        other = "" if field == "phi" else f"_{field}"
        for words, name in (([], "slices.png"), (["--field", field], f"slices{other}.png")):
            code, out, err = fdplot("slices", path, *words, "--dpi", 40)
            assert code == 0, (path, err)
            assert out.strip() == str(path.with_name(f"{path.stem}_{name}"))


def test_a_file_without_a_time(tmp_path, fdplot):
    """An initial condition has planes and a spectrum, and no movie."""
    path = fdpost.write_field(tmp_path / "start.hdf", np.random.default_rng(1).normal(size=(4, 5, 6)))
    assert fdplot("slices", path, "--steps", "last")[0] == fdplot("spectrum", path)[0] == 0
    for words, message in ((["movie", path], "does not say its time"), (["slices", path, "--steps", "0"], "no steps")):
        code, _, err = fdplot(*words)
        assert code == 2 and message in err


def test_a_slice_by_itself_lies_where_it_was_cut(tmp_path):
    """With the configuration beside it as one plane of the grid; without it as a picture of unknown surroundings."""
    path = synthetic.write_slice(tmp_path, 0, 3, 10, phi=np.ones((20, 16)))
    alone = Run(path).frames[0]
    assert alone.size == (1, 16, 20) and alone.cuts == [(0, 0)] and alone.periodic == (False,) * 3
    assert slices.cut_title(alone, 0, 0) == "$x = 0.125$"
    (tmp_path / "config.ini").write_text("[grid]\nnx = 24\nny = 16\nnz = 20\n[boundary]\nz = open\n")
    known = Run(path).frames[0]
    assert known.size == (24, 16, 20) and known.cuts == [(0, 3)] and known.periodic == (True, True, False)
    assert slices.cut_title(known, 0, 3) == "$x = 0.125$" and known.lengths == pytest.approx((1, 1, 0.95))


def test_intensity_stands_for_its_components(tmp_path, fdplot, drawn):
    plane = np.ones((20, 16))
    parts = {f"intensity_{axis}": plane * number for number, axis in enumerate("xyz")}
    synthetic.write_slice(tmp_path, 0, 3, 10, p=plane, **parts)
    assert fdplot("watch", tmp_path, "--field", "intensity", "p")[0] == 0
    assert list(drawn[0][3]) == ["intensity_x", "intensity_y", "intensity_z", "p"]
    code, _, err = fdplot("movie", tmp_path, "--field", "intensity")
    assert code == 2 and "one field, such as intensity_x" in err
    code, _, err = fdplot("watch", tmp_path, "--field", "intensities")
    assert code == 2 and "no field 'intensities'; there are: p, intensity_x, intensity_y, intensity_z" in err


def test_frames_without_the_field_are_left_out_and_told(tmp_path, fdplot, drawn):
    for step in (0, 10, 20):
        fields = {"phi": np.ones((20, 16))} | ({"gradient": np.ones((20, 16))} if step else {})
        synthetic.write_slice(tmp_path, 0, 3, step, **fields)
    code, _, err = fdplot("slices", tmp_path, "--field", "gradient")
    assert code == 0 and steps(drawn[0][1]) == [10, 20] and "left out, for they have no gradient: 1 of 3" in err


def test_watch_follows_snapshots_in_fields(tmp_path, fdplot, drawn):
    run = synthetic.write_part_run(tmp_path / "run", every=2)
    code, out, _ = fdplot("watch", run, "--axis", "z", "--field", "gradient")
    assert (code, out) == (0, f"{run / 'watch.png'}: step 20\n")
    synthetic.write_slice(run, 2, 6, 15, SHAPE[::-1], phi=np.ones((8, 16)))
    assert fdplot("watch", run)[1] == f"{run / 'watch.png'}: step 15\n"
    only = synthetic.write_part_run(tmp_path / "only", checkpoints=())
    assert fdplot("watch", only)[1] == f"{only / 'watch.png'}: step 20\n"


def test_watch_of_one_folder_follows_that_folder(tmp_path, fdplot, drawn):
    """Its picture goes where those of the run go."""
    run = synthetic.write_part_run(tmp_path / "run", every=2)
    synthetic.write_slice(run, 2, 6, 15, SHAPE[::-1], phi=np.ones((8, 16)))
    assert fdplot("watch", run / "fields")[1] == f"{run / 'watch.png'}: step 20\n"
    assert fdplot("watch", run / "slices")[1] == f"{run / 'watch.png'}: step 15\n"


def test_watch_says_what_it_waits_for(tmp_path, monkeypatch):
    run = synthetic.write_part_run(tmp_path / "run", kept=(), checkpoints=(15,))
    (run / "state_00000015.hdf").unlink()
    said, calls = [], iter((True, True, False))
    monkeypatch.setattr(watch, "is_running", lambda path: next(calls))
    with pytest.raises(fdpost.DataError, match="no snapshots and no slices"):
        watch.watch(run, lambda found: True, print, said.append, sleep=lambda seconds: None)
    assert said == ["waiting: kept snapshots are written every 10 steps"]


@pytest.mark.parametrize("output, slices_first, sentence", [
    ({"slices": "z=0.5", "slices_every": "20", "fields_every": "5"}, True, "slices are written every 20 steps"),
    ({"slices": "z=0.5", "slices_every": "20", "fields_every": "5"}, False, "kept snapshots are written every 5 steps"),
    ({"slices": "z=0.5", "slices_every": "20", "fields_every": "0"}, False, "slices are written every 20 steps"),
    ({"slices": "none", "slices_every": "10", "fields_every": "99999999"}, True, "kept snapshots are written at the"),
    ({"slices": "none", "fields_every": "0", "checkpoint_every": "7"}, True, "checkpoints are written every 7 steps"),
    ({"fields_every": "0"}, True, "nothing is written to draw"),
])  # fmt: skip
def test_what_is_awaited_follows_from_the_configuration(output, slices_first, sentence):
    assert watch.awaited({"output": output}, slices_first).startswith(sentence)


def test_a_part_that_fills_the_period_has_a_spectrum(tmp_path, fdplot):
    """A stride of 2 on even numbers of points leaves two waves along x at their wavenumber. A note says that shorter
    waves are folded."""
    run = synthetic.write_part_run(tmp_path / "run", every=2)
    waves = np.broadcast_to(np.cos(2 * np.pi * 2 * np.arange(16) / 16), SHAPE)
    config = (run / "config.ini").read_text()
    synthetic.write_kept(run / "fields/state_00000000.hdf", waves, 0.0, 0, config, every=2)
    (state, *_) = Run(run).states
    k, power, _ = spectrum.power_spectrum(state.read(), state.lengths)
    assert k[power.argmax()] == pytest.approx(2 * 2 * np.pi)
    assert state.periodic == (True,) * 3 and state.lengths == pytest.approx((1, 1, 1))
    code, _, err = fdplot("spectrum", run)
    assert code == 0 and "one of 2 points of each axis was kept" in err


def test_what_does_not_fill_a_period_has_none(tmp_path, fdplot):
    box = synthetic.write_part_run(tmp_path / "box", box=(slice(0, None), slice(0, None), slice(3, 9)))
    code, out, err = fdplot("spectrum", box)
    assert (code, out) == (2, "") and "no spectrum along x: it was kept in part" in err
    assert f"all points are in {box / 'state_00000025.hdf'}" in err
    assert fdplot("spectrum", box / "state_00000025.hdf")[0] == 0
    odd = synthetic.write_part_run(tmp_path / "odd", every=3)  # 12, 8 and 16 points
    with pytest.raises(UsageError, match="no spectrum along x, y: it was kept in part"):
        spectrum.refuse_ends(Run(odd), Run(odd).states)
    ended = synthetic.write_run(tmp_path / "ended", steps=(0,))
    synthetic.mark(ended / "state_00000000.hdf", config="[boundary]\nz = open\n")
    code, _, err = fdplot("spectrum", ended)
    assert code == 2 and "no spectrum along z: the domain has ends there" in err


def test_a_dataset_holds_the_kept_snapshots(tmp_path):
    pytest.importorskip("xarray")
    dataset = fdpost.open_run(synthetic.write_part_run(tmp_path / "run", every=2))
    assert dataset.step.values.tolist() == [0, 10, 20] and dataset.gradient.shape == (3, 6, 4, 8)


@pytest.mark.parametrize("periodic", [(True, True, True), (False, True, False)])
@pytest.mark.parametrize("by", ["attribute", "distance"])
def test_a_file_without_a_run_says_its_ends(tmp_path, periodic, by):
    """Files of write_field and of fddistance: where an axis has ends nothing is repeated beyond them, and the picture
    ends with the last point."""
    phi = np.zeros((4, 5, 6))
    path = fdpost.write_field(tmp_path / "field.hdf", phi, spacing=(0.2, 0.25, 0.5), periodic=periodic)
    if by == "distance":
        kinds = "\n".join(f"boundary_{axis} = {'periodic' if yes else 'open'}" for axis, yes in zip("xyz", periodic))
        with h5py.File(path, "r+") as file:
            del file["VTKHDF"].attrs["Periodic"]
            file.create_group("fdapp").attrs.update(
                {"step": 0, "time": 0.0, "dt": 0.0, "config": np.bytes_(f"[distance]\n{kinds}\n".encode())}
            )
    frame = Run(path).frame
    assert frame.periodic == periodic
    assert frame.lengths == pytest.approx([1.2 if periodic[0] else 1.0, 1.25, 2.0 if periodic[2] else 1.5])
    fig = slices.draw_slices(Run(path), [frame], [(2, 0)], {"phi": [[phi[0]]]})
    assert fig.axes[0].get_xlim() == pytest.approx((0, 1.2 if periodic[0] else 1.0))


def attribute(name, value):
    return lambda group: group["phi"].attrs.update({name: value})


def half_written(group):
    data = group.create_dataset("half", group["phi"].shape, "f8", chunks=(2, 5, 6))
    data[:2] = 1.0


def put_together(group):
    layout = h5py.VirtualLayout(group["phi"].shape, "f8")
    layout[:] = h5py.VirtualSource("gone.h5", "phi", shape=group["phi"].shape)
    group.create_virtual_dataset("whole", layout)


def source_with_a_fill_value(group):
    with h5py.File(Path(group.file.filename).parent / "part.h5", "w") as file:
        file["phi"] = group["phi"][:]
        file["phi"].attrs["missing_value"] = -9999.0
    layout = h5py.VirtualLayout(group["phi"].shape, "f8")
    layout[:] = h5py.VirtualSource("part.h5", "phi", shape=group["phi"].shape)
    del group["phi"]
    group.create_virtual_dataset("phi", layout)


def source_with_a_factor(group):
    source_with_a_fill_value(group)
    with h5py.File(Path(group.file.filename).parent / "part.h5", "r+") as file:
        file["phi"].attrs["scale_factor"] = 2.0


def source_half_written(group):
    with h5py.File(Path(group.file.filename).parent / "part.h5", "w") as file:
        file.create_dataset("phi", group["phi"].shape, "f8", chunks=(2, 5, 6))[:2] = 1.0
    layout = h5py.VirtualLayout(group["phi"].shape, "f8")
    layout[:] = h5py.VirtualSource("part.h5", "phi", shape=group["phi"].shape)
    group.create_virtual_dataset("whole", layout)


def put_together_in_part(group):
    source_with_a_fill_value(group)
    layout = h5py.VirtualLayout(group["phi"].shape, "f8")
    layout[:3] = h5py.VirtualSource("part.h5", "phi", shape=group["phi"].shape)[:3]
    group.create_virtual_dataset("three", layout)


def rounded(group):
    group["phi"][1, 2, 3] = -999.9
    group["phi"].attrs["_FillValue"] = np.float32(-999.9)


def descending(group):
    across = group.file.create_dataset("across", data=np.arange(6.0)[::-1])
    across.make_scale("x")
    group["phi"].dims[2].attach_scale(across)


def labelled(group):
    for axis, name in zip(group["phi"].dims, "xyz"):
        axis.label = name


OTHERS = {
    "factor": (attribute("scale_factor", 2.0), "attribute scale_factor"),
    "slope of DICOM": (attribute("RescaleSlope", 2.0), "attribute RescaleSlope"),
    "fill value": (attribute("_FillValue", -9999.0), "phi is -9999 at a point: by the attribute _FillValue"),
    "valid range": (attribute("valid_range", [-100.0, 100.0]), "phi is -9999 at a point: by its valid range"),
    "valid minimum": (attribute("valid_min", -100), "phi is -9999 at a point: by its valid range"),
    "fill value of a source": (source_with_a_fill_value, "phi is -9999 at a point: by the attribute missing_value"),
    "factor of a source": (source_with_a_factor, "attribute scale_factor"),
    "rounded fill value": (rounded, "phi is -999.9 at a point: by the attribute _FillValue"),
    "descending": (descending, "coordinates /across that do not ascend"),
    "half written source": (source_half_written, "whole was not written in full: of its 2 chunks 1 are there"),
    "a part without a source": (put_together_in_part, "which have 90 of its 120 values"),
    "unsigned": (attribute("_Unsigned", "true"), "attribute _Unsigned"),
    "half written": (half_written, "half was not written in full: of its 2 chunks 1 are there"),
    "put together": (put_together, "of which gone.h5 is not there"),
    "labels": (labelled, "has the axes (x, y, z)"),
    "mirrored": (lambda group: group.parent.attrs.modify("Direction", -np.eye(3).ravel()), "Direction of /VTKHDF"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_numbers_that_mean_something_else_are_refused(tmp_path, name):
    """As fdapp refuses to begin with them."""
    phi = np.random.default_rng(1).normal(size=(4, 5, 6))
    phi[1, 2, 3] = -9999
    path = fdpost.write_field(tmp_path / "other.hdf", phi)
    assert Run(path).states[0].read("phi").min() == -9999
    change, says = OTHERS[name]
    with h5py.File(path, "r+") as file:
        change(file["VTKHDF/PointData"])
    with pytest.raises(fdpost.DataError) as refused:
        Run(path).states[0].read("phi")
    assert str(path) in str(refused.value) and says in str(refused.value)


def test_the_names_of_attributes_are_those_of_fdapp():
    source = (Path(__file__).parents[2] / "src/files/dataset_meaning.c").read_text()
    listed = re.findall(r'\{"(\w+)", ([01]), ([\d.]+)\}', source[source.index("meanings[] = {") :])
    assert {name for name, absent, _ in listed if absent == "1"} == meaning.ABSENT
    assert {name: float(neutral) for name, absent, neutral in listed if absent == "0"} == meaning.NEUTRAL


def test_numbers_that_mean_themselves_are_read(tmp_path):
    phi = np.random.default_rng(1).normal(size=(4, 5, 6))
    path = fdpost.write_field(tmp_path / "own.hdf", phi)
    with h5py.File(path, "r+") as file:
        file["VTKHDF/PointData/phi"].attrs.update(
            {
                "scale_factor": 1.0,
                "_FillValue": -9999.0,
                "missing_value": np.nan,
                "valid_max": 9,
                "valid_min": "0",
                "units": "K",
            }
        )
    assert np.array_equal(Run(path).states[0].read("phi"), phi)
