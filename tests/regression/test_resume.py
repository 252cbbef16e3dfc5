"""Going on from states where it is easy to lose or to falsify something: past the end, at the end, with other periods,
in another domain."""

import pytest

from program import BASE, attribute, complaints, launch, merged, series, states, tree, write_ini

SEVEN = merged(
    BASE,
    {
        "grid": {"nx": 16, "ny": 12, "nz": 13},
        "initial": {"width": 0.16},
        "time": {"courant": None, "dt": 0.004, "steps": 7},
    },
)
PERIODS = {"output": {"directory": "run", "fields_every": 5, "diagnostics_every": 5}}


def steps(folder):
    return [int(line.split(",")[0]) for line in (folder / "diagnostics.csv").read_text().splitlines()[1:]]


@pytest.fixture
def finished(tmp_path):
    write_ini(tmp_path / "case.ini", merged(SEVEN, PERIODS))
    launch(tmp_path, 1, "case.ini")
    assert steps(tmp_path / "run") == [0, 5, 7]
    return tmp_path


def test_finished_run_is_left_alone(finished):
    before = {path.name: path.read_bytes() for path in (finished / "run").glob("[!.]*") if path.is_file()}
    assert "nothing to do" in launch(finished, 2, "case.ini", "restart.from=latest").stdout
    after = {path.name: path.read_bytes() for path in (finished / "run").glob("[!.]*") if path.is_file()}
    assert after == before


def test_the_first_row_of_a_run_that_began_elsewhere_stays(finished):
    begin = ["restart.from=run/state_00000007.hdf", "time.steps=14"]
    launch(finished, 1, "case.ini", *begin, "output.directory=whole")
    launch(finished, 1, "case.ini", *begin, "output.directory=cut")
    assert steps(finished / "whole") == [7, 10, 14]
    launch(finished, 1, "case.ini", "restart.from=cut/state_00000007.hdf", "time.steps=14", "output.directory=cut")
    assert (finished / "cut" / "diagnostics.csv").read_bytes() == (finished / "whole" / "diagnostics.csv").read_bytes()


def test_rows_stay_with_another_period(finished):
    launch(finished, 1, "case.ini", "restart.from=latest", "time.steps=12", "output.diagnostics_every=4")
    assert steps(finished / "run") == [0, 5, 8, 12]


@pytest.mark.parametrize("end", ["time.t_end=0.01", "time.steps=3"])
def test_state_beyond_the_end_is_refused(finished, end):
    result = launch(finished, 1, "case.ini", end, "restart.from=run/state_00000005.hdf", "output.directory=new", code=2)
    assert "is beyond " + end.split("=")[0] in result.stderr
    assert not (finished / "new").exists()


def test_state_of_another_domain_is_refused(finished):
    result = launch(
        finished, 1, "case.ini", "grid.lx=2", "restart.from=run/state_00000005.hdf", "output.directory=new", code=3
    )
    assert "apart" in result.stderr
    assert not (finished / "new").exists()


def test_validate_looks_at_the_restart(finished):
    state = "restart.from=run/state_00000005.hdf"
    before = tree(finished)
    plan = launch(finished, 2, "--validate", "case.ini", state, "output.directory=new").stdout
    assert "steps 5 to 7, t = 0.02 to 0.028" in plan
    assert (
        "steps 7 to 12" in launch(finished, 1, "--validate", "case.ini", "restart.from=latest", "time.steps=12").stdout
    )
    launch(finished, 1, "--validate", "case.ini", "restart.from=missing.hdf", "output.directory=new", code=3)
    assert "apart" in launch(finished, 1, "--validate", "case.ini", state, "grid.lx=2", code=3).stderr
    assert tree(finished) == before


def test_later_states_are_set_aside_and_said_so(finished):
    said = launch(finished, 1, "case.ini", "restart.from=run/state_00000005.hdf").stdout
    assert "states after step 5 moved to run/previous_1" in said
    assert states(finished / "run" / "previous_1") == ["state_00000007.hdf"]


def whole_table(folder):
    """Header and rows, every row as long as the header."""
    lines = [line.split(",") for line in (folder / "diagnostics.csv").read_text().splitlines()]
    assert {len(line) for line in lines} == {len(lines[0])}
    return lines[0], lines[1:]


UNIFORM = merged(SEVEN, PERIODS, {"velocity": {"field": "uniform", "period": None}, "physics": {"diffusivity": None}})


@pytest.fixture
def exact(tmp_path):
    write_ini(tmp_path / "case.ini", UNIFORM)
    launch(tmp_path, 1, "case.ini")
    return tmp_path


def test_table_with_other_columns_is_set_aside(exact):
    before = (exact / "run" / "diagnostics.csv").read_bytes()
    result = launch(exact, 2, "case.ini", "restart.from=latest", "time.steps=14", "velocity.field=abc")
    assert "diagnostics.csv with other columns moved to run/previous_1" in result.stdout
    header, rows = whole_table(exact / "run")
    assert "err_l1" not in header and [row[0] for row in rows] == ["10", "14"]
    assert (exact / "run" / "previous_1" / "diagnostics.csv").read_bytes() == before


def test_going_back_keeps_all_of_the_branch(exact):
    before = {name: (exact / "run" / name).read_bytes() for name in ("diagnostics.csv", "config.ini", "perf.json")}
    launch(exact, 2, "case.ini", "restart.from=run/state_00000005.hdf", "time.steps=6")
    previous = exact / "run" / "previous_1"
    for name, content in before.items():
        assert (previous / name).read_bytes() == content
    assert list(series(previous)) == ["state_00000007.hdf"] == states(previous)
    assert list(series(exact / "run")) == [f"state_0000000{step}.hdf" for step in (0, 5, 6)]
    launch(exact, 1, "case.ini", "restart.from=latest", "time.steps=8")
    assert not (exact / "run" / "previous_2").exists()


@pytest.mark.parametrize("other", ["grid.nx=18", "grid.lx=2", "compute.precision=single"])
def test_latest_of_another_problem_is_refused_at_once(exact, other):
    before = tree(exact)
    result = launch(exact, 2, "case.ini", "restart.from=latest", other, "time.steps=14", code=3)
    assert "passed over" not in result.stderr and "state_00000007.hdf: holds" in result.stderr
    assert {name: content for name, content in tree(exact).items() if ".lock" not in name} == {
        name: content for name, content in before.items() if ".lock" not in name
    }


def test_another_problem_is_said_and_its_errors_are_left_out(exact):
    changed = ["restart.from=latest", "initial.width=0.2", "physics.diffusivity=0.001", "physics.form=conservative"]
    plan = launch(exact, 2, "--validate", "case.ini", *changed, "time.steps=9")
    result = launch(exact, 2, "case.ini", *changed, "time.steps=9")
    for said in (plan.stderr, result.stderr):
        assert "physics.diffusivity, initial.width differ" in said and "another method: physics.form;" in said
    assert "err_l1" not in whole_table(exact / "run")[0]
    # The states written since have these keys in them, and are of no solution all the same.
    result = launch(exact, 2, "case.ini", *changed, "time.steps=12")
    assert "differ" not in result.stderr
    header, rows = whole_table(exact / "run")
    assert "err_l1" not in header and [row[0] for row in rows] == ["10", "12"]


def test_a_key_without_effect_is_no_other_problem(exact):
    idle = ["physics.density=2", "medium.density=3", "initial.kx=5", "velocity.period=4", "constants.q=6"]
    launch(exact, 2, "case.ini", "restart.from=latest", "time.steps=8", "constants.q=1")
    result = launch(exact, 2, "case.ini", "restart.from=latest", "time.steps=9", *idle)
    assert ", ".join(key.split("=")[0] for key in idle) in result.stderr and "another problem" not in result.stderr
    assert "err_l1" in whole_table(exact / "run")[0]


def test_the_same_problem_keeps_its_errors(exact):
    other = ["physics.form=conservative", "compute.order=4", "time.scheme=ssprk3"]
    result = launch(exact, 2, "case.ini", "restart.from=latest", "time.steps=9", *other)
    assert "differ" not in result.stderr
    assert "another method: physics.form, time.scheme, compute.order;" in result.stderr
    assert "method" not in launch(exact, 2, "case.ini", "restart.from=latest", "time.steps=9", *other).stderr
    assert "err_l1" in whole_table(exact / "run")[0]


def test_another_step_is_said(exact):
    """Once, as the snapshots written since have it; a size by another key, too. A constant `dt` is no step."""
    own = {"constants": {"dt": 1}}
    given = {"courant": merged(own, UNIFORM, {"time": {"dt": None, "courant": 0.3}}), "dt": merged(own, UNIFORM)}
    for name, configuration in given.items():
        write_ini(exact / f"{name}.ini", configuration)
    for key, overrides, said in (
        ("dt", [], None),
        ("dt", ["time.dt=0.002"], "time.dt"),
        ("courant", [], "time.dt"),
        ("courant", ["time.courant=0.4", "constants.dt=2"], "time.courant"),
        ("dt", ["constants.dt=2"], "time.courant"),
    ):
        steps = int(states(exact / "run")[-1][6:14]) + 1
        arguments = [f"{key}.ini", "restart.from=latest", *overrides]
        for more in ([f"time.steps={steps}", "--validate"], [f"time.steps={steps}"]):
            stderr = launch(exact, 1, *arguments, *more).stderr
            assert ("another method" in stderr) == (said is not None)
            assert said is None or f"was computed by another method: {said}; from here on it is this run's" in stderr
        assert "another method" not in launch(exact, 1, *arguments, f"time.steps={steps + 1}").stderr


def test_plan_of_more_than_the_machine_holds(tmp_path):
    write_ini(tmp_path / "case.ini", UNIFORM)
    huge = ["grid.nx=100000", "grid.ny=100000", "grid.nz=1000"]
    result = launch(tmp_path, 2, "--validate", "case.ini", *huge)
    assert "steps 0 to 7" in result.stdout and " free on this node" in result.stdout
    assert "more memory than is free on this node" in result.stderr
    assert "more memory" not in launch(tmp_path, 1, "--validate", "case.ini").stderr
    latest = launch(tmp_path, 1, "--validate", "case.ini", "restart.from=latest").stderr
    assert "no snapshot in run: starting at t = 0" in latest


MISTYPED = {
    "results/quickstart": ("results/quikstart", "results/quckstrt", "results/uickstart", "results/quickstarr",
                           "results/quickstartt", "results/Quickstart", "results/quick_start", "reslts/quickstart",
                           "Results/quickstart"),
    "runs/room": ("runs/rooom", "runs/rom", "runs/romo", "runs/roon", "runs/Room", "rnus/room", "ruins/room"),
    "abc": ("ab", "bac", "abcc", "ABC"),
}  # fmt: skip
OTHERS = {
    "quickstart_a": ("quickstart_b", "quickstart", "quickstart_a2"),
    "cpu": ("gpu",),
    "mesh_lo": ("mesh_hi",),
    "caseA": ("caseB", "case"),
}


@pytest.mark.parametrize("there", MISTYPED)
def test_a_mistyped_directory_is_no_first_run(finished, there):
    """Where a directory of nearly the same name holds snapshots of this problem; nothing is written."""
    launch(finished, 1, "case.ini", f"output.directory={there}", "time.steps=1")
    before = sorted(path.name for path in finished.rglob("*"))
    for k, name in enumerate(MISTYPED[there]):
        more = ("--validate",) if k % 2 else ("time.steps=12",)
        said = launch(
            finished, 1 + k % 2, "case.ini", *more, "restart.from=latest", f"output.directory={name}", code=2
        ).stderr
        assert f"restart.from = latest: output.directory = {name} is not there, and {there} holds" in said
    assert sorted(path.name for path in finished.rglob("*")) == before


@pytest.mark.parametrize("there", OTHERS)
def test_the_first_run_of_another_name(finished, there):
    launch(finished, 1, "case.ini", f"output.directory={there}", "time.steps=1")
    for name in OTHERS[there]:
        keys = ("restart.from=latest", f"output.directory={name}")
        said = launch(finished, 1, "--validate", "case.ini", *keys).stderr
        assert f"no snapshot in {name}: starting at t = 0" in said


def test_the_first_run_of_another_problem(finished):
    """Another number, another name, another problem, grid or precision. A directory that is there is meant."""
    launch(finished, 1, "case.ini", "output.directory=results/quickstart")
    (finished / "results/quickstars").mkdir()
    for name, more in (
        ("results/quickstart2", ()),
        ("results/other", ()),
        ("results/quickstar", ("initial.width=0.2",)),
        ("results/quickstar", ("grid.nx=40",)),
        ("results/quickstar", ("compute.precision=single",)),
        ("results/quickstars", ()),
    ):
        keys = (*more, "restart.from=latest", f"output.directory={name}")
        said = launch(finished, 1, "--validate", "case.ini", *keys).stderr
        assert f"no snapshot in {name}: starting at t = 0" in said


def test_latest_where_a_run_ended_without_snapshots(finished):
    """It would be computed once more; nothing is written or moved. A run that was killed before its first snapshot
    begins again."""
    bare = ("output.directory=bare", "output.fields_every=0")
    launch(finished, 1, "case.ini", *bare)
    before = {path: path.read_bytes() for path in (finished / "bare").rglob("*") if path.is_file()}
    assert before and not list((finished / "bare").glob("state_*"))
    for ranks, more in ((1, ()), (2, ("time.steps=20",)), (1, ("--validate",))):
        said = launch(finished, ranks, "case.ini", *bare, *more, "restart.from=latest", code=2).stderr
        assert "output.directory = bare holds results of a run that has ended, and no snapshot; accepted: " in said
    assert {path: path.read_bytes() for path in (finished / "bare").rglob("*") if path.is_file()} == before
    (finished / "bare/perf.json").unlink()
    said = launch(finished, 1, "case.ini", *bare, "restart.from=latest").stderr
    assert "no snapshot in bare: starting at t = 0" in said


COMMENTED = "; mine, and worth keeping\n"


@pytest.mark.parametrize("overrides", [[], ["restart.from=latest"], ["--validate"]])
@pytest.mark.parametrize(("place", "there"), [(".", ""), ("runs/config", "runs/config/")])
def test_the_users_own_configuration_is_not_replaced(tmp_path, place, there, overrides):
    own = tmp_path / there / "config.ini"
    own.parent.mkdir(parents=True, exist_ok=True)
    write_ini(own, merged(SEVEN, {"output": {"directory": place}}))
    own.write_text(COMMENTED + own.read_text())
    before = tree(tmp_path)
    result = launch(tmp_path, 2, f"{there}config.ini", *overrides, code=2)
    assert f"config.ini:28: output.directory = {place}: {there}config.ini is there" in result.stderr
    assert "accepted: another directory, or another name" in result.stderr
    assert tree(tmp_path) == before
    launch(tmp_path, 1, f"{there}config.ini", *[o for o in overrides if o[0] == "-"], "output.directory=elsewhere")
    assert own.read_text() == before[f"{there}config.ini"].decode()


def test_what_a_run_left_as_configuration_is_run_again(finished):
    left = (finished / "run" / "config.ini").read_text()
    result = launch(finished, 2, "run/config.ini", "restart.from=latest", "time.steps=12")
    assert "steps 7 to 12" in result.stdout and not (finished / "run" / "previous_1").exists()
    assert "steps = 12\n" in (finished / "run" / "config.ini").read_text()
    launch(finished, 1, "run/config.ini", "restart.from=none", "time.steps=7")
    assert (finished / "run" / "config.ini").read_text() == left
    assert states(finished / "run") == [f"state_0000000{step}.hdf" for step in (0, 5, 7)]


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("steps = 7", "t_end = 0.05", 0),
        ("steps = 7", "steps = 9", 0),
        ("steps = 7", "steps = 9 ; mine", 2),
        ("steps = 7", "steps = 9\n# mine", 2),
        ("scheme = rk4\n", "scheme = rk4 ; mine\n", 2),
        ("[restart]\nfrom = none\n", "", 2),
    ],
)
def test_what_a_run_left_may_be_given_other_values(finished, before, after, code):
    left = finished / "run" / "config.ini"
    assert before in left.read_text()
    left.write_text(left.read_text().replace(before, after))
    edited = left.read_text()
    launch(finished, 1, "run/config.ini", "restart.from=latest", code=code)
    assert (left.read_text() == edited) == (code == 2)


def test_notes_in_the_resolved_configuration_are_set_aside(finished):
    resolved = finished / "run" / "config.ini"
    resolved.write_text(resolved.read_text() + COMMENTED)
    noted = resolved.read_text()
    said = launch(finished, 2, "case.ini", "restart.from=latest", "time.steps=12").stdout
    assert "config.ini, not as a run leaves it, moved to run/previous_1" in said
    assert (finished / "run" / "previous_1" / "config.ini").read_text() == noted
    assert COMMENTED not in resolved.read_text()
    launch(finished, 1, "case.ini", "restart.from=latest", "time.steps=14")
    assert not (finished / "run" / "previous_2").exists()


@pytest.mark.parametrize(
    ("overrides", "come"),
    [
        (["restart.from=run/state_00000005.hdf", "output.directory=new"], [5, 7]),
        (["restart.from=run/state_00000005.hdf", "output.directory=new", "output.fields_every=3"], [5, 6, 7]),
        (["restart.from=run/state_00000007.hdf", "output.directory=new"], [7]),
        (["restart.from=run/state_00000007.hdf", "output.directory=new", "time.steps=12"], [7, 10, 12]),
        (["restart.from=run/state_00000005.hdf"], [7]),
        (["restart.from=latest"], []),
        (["restart.from=latest", "time.steps=12"], [10, 12]),
        (["output.directory=new", "time.steps=0"], [0]),
        (["output.directory=new"], [0, 5, 7]),
    ],
)
def test_fields_to_keep_are_those_that_the_plan_counts(finished, overrides, come):
    said = f", {len(come)} snapshot{'s' if len(come) != 1 else ''} to keep,"
    overrides = [*overrides, "output.checkpoint_every=1"]
    assert said in launch(finished, 1, "--validate", "case.ini", *overrides).stdout
    before = {path.stat().st_ino for path in finished.rglob("state_*.hdf")}
    launch(finished, 1, "case.ini", *overrides)
    new = [path for path in finished.rglob("state_*.hdf") if path.stat().st_ino not in before]
    kept = {int(path.name[6:14]) for path in new if attribute(path, "picture")}
    assert kept == set(come)


@pytest.mark.parametrize("t_end", [0.0265, 0.028, 0.003])
def test_first_row_elsewhere_is_the_last_row_here(tmp_path, t_end):
    """With a shorter last step, whole steps, and a single shorter step; and from there once more."""
    write_ini(tmp_path / "case.ini", merged(SEVEN, PERIODS, {"time": {"steps": None, "t_end": t_end}}))
    launch(tmp_path, 1, "case.ini")
    last = states(tmp_path / "run")[-1]
    header, *rows = (tmp_path / "run" / "diagnostics.csv").read_text().splitlines()
    for ranks, source, directory in ((2, "run", "second"), (1, "second", "third")):
        launch(tmp_path, ranks, "case.ini", f"restart.from={source}/{last}", f"output.directory={directory}")
        assert (tmp_path / directory / "diagnostics.csv").read_text().splitlines() == [header, rows[-1]]
    launch(
        tmp_path, 1, "case.ini", f"restart.from=third/{last}", "output.directory=on", "time.t_end=0.05", "time.dt=0.003"
    )
    assert (tmp_path / "on" / "diagnostics.csv").read_text().splitlines()[1] == rows[-1]


def test_a_state_from_elsewhere_is_not_this_runs_history(finished):
    """Nor one that lies in the directory under another name: its run's results are set aside like a stranger's."""
    other = ["initial.case=cosine", "output.directory=other"]
    launch(finished, 1, "case.ini", *other)
    (finished / "run" / "copy.hdf").write_bytes((finished / "other" / "state_00000005.hdf").read_bytes())
    begin = ["restart.from=run/copy.hdf", "time.steps=9", "initial.case=cosine"]
    said = launch(finished, 2, "case.ini", *begin).stdout
    assert "results of an earlier run moved to run/previous_1" in said
    assert steps(finished / "run") == [5, 9] and steps(finished / "run" / "previous_1") == [0, 5, 7]
    assert states(finished / "run") == ["state_00000005.hdf", "state_00000009.hdf"]


def test_links_to_an_own_state_go_on(finished):
    (finished / "run" / "newest.hdf").symlink_to("state_00000005.hdf")
    (finished / "elsewhere.hdf").symlink_to(finished / "run" / "state_00000005.hdf")
    for link in ("run/newest.hdf", "elsewhere.hdf"):
        said = launch(finished, 1, "case.ini", f"restart.from={link}").stdout
        assert "states after step 5 moved to" in said
        assert steps(finished / "run") == [0, 5, 7]


def test_going_back_to_the_last_step_takes_the_table_along(finished):
    before = (finished / "run" / "diagnostics.csv").read_bytes()
    back = ["restart.from=run/state_00000005.hdf", "time.steps=5"]
    said = launch(finished, 2, "case.ini", *back).stdout
    assert "states after step 5 moved to run/previous_1" in said and "nothing to do" in said
    assert steps(finished / "run") == [0, 5]
    assert "steps = 5\n" in (finished / "run" / "config.ini").read_text()
    assert (finished / "run" / "previous_1" / "diagnostics.csv").read_bytes() == before


def test_own_states_may_be_links(finished):
    """To where there is room for them."""
    (finished / "archive").mkdir()
    state = finished / "run" / "state_00000005.hdf"
    state.rename(finished / "archive" / "five.hdf")
    state.symlink_to(finished / "archive" / "five.hdf")
    said = launch(finished, 1, "case.ini", "restart.from=run/state_00000005.hdf").stdout
    assert "states after step 5 moved to" in said and steps(finished / "run") == [0, 5, 7]


def test_going_back_to_a_last_step_without_a_row(finished):
    """As if the run had ended there at once, also where somebody else has taken the later state away."""
    launch(finished, 1, "case.ini", "time.steps=6", "output.directory=six")
    launch(finished, 2, "case.ini", "restart.from=six/state_00000006.hdf", "output.directory=six")
    assert steps(finished / "six") == [0, 5, 7]
    (finished / "six" / "state_00000007.hdf").unlink()
    launch(finished, 1, "case.ini", "restart.from=latest", "time.steps=6", "output.directory=six")
    launch(finished, 1, "case.ini", "time.steps=6", "output.directory=once")
    assert (finished / "six" / "diagnostics.csv").read_bytes() == (finished / "once" / "diagnostics.csv").read_bytes()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda rows: rows, None),
        (lambda rows: rows[:2], "no row from step 1 to 7, where the run resumes: lost, or not due in the run before"),
        (lambda rows: rows[:1], "no row up to step 7, where the run resumes: lost, or not due in the run before"),
        (lambda rows: None, "no row up to step 7, where the run resumes: lost, or not due in the run before"),
        (lambda rows: [*rows[:2], "5,0.02,bogus", *rows[3:]], "1 damaged row left out"),
    ],
    ids=("whole", "truncated", "emptied", "deleted", "garbled"),
)
def test_rows_that_were_lost_are_said(finished, damage, says):
    table = finished / "run" / "diagnostics.csv"
    rows = damage(table.read_text().splitlines())
    table.unlink()
    if rows is not None:
        table.write_text("".join(row + "\n" for row in rows))
    warned = complaints(launch(finished, 1, "case.ini", "restart.from=latest", "time.steps=9"))
    assert says in warned[0] if says else warned == []


def test_an_end_that_is_reached_but_for_round_off(tmp_path):
    """Three steps of 0.1 end at 0.30000000000000004, which is no time beyond 0.3."""
    write_ini(tmp_path / "case.ini", merged(SEVEN, PERIODS, {"time": {"dt": 0.1, "steps": 3}}))
    launch(tmp_path, 1, "case.ini")
    write_ini(tmp_path / "case.ini", merged(SEVEN, PERIODS, {"time": {"dt": 0.1, "steps": None, "t_end": 0.3}}))
    assert "nothing to do" in launch(tmp_path, 1, "case.ini", "restart.from=latest").stdout


def test_files_are_the_same_whether_steps_wait_for_them(tmp_path):
    """Written from a copy while steps go on, or at once: the same snapshots, the same index, the same rows."""
    write_ini(tmp_path / "case.ini", SEVEN)
    every = ("time.steps=9", "output.fields_every=4", "output.checkpoint_every=1", "output.diagnostics_every=1")
    said = {}
    for way in ("yes", "no"):
        keys = (*every, f"output.overlap={way}", f"output.directory={way}")
        said[way] = launch(tmp_path, 3 if way == "yes" else 1, "case.ini", *keys).stdout
    assert "while steps go on" in said["yes"] and "while steps go on" not in said["no"]
    assert states(tmp_path / "yes") == states(tmp_path / "no") == [f"state_0000000{n}.hdf" for n in (0, 4, 6, 7, 8, 9)]
    assert series(tmp_path / "yes") == series(tmp_path / "no")
    assert steps(tmp_path / "yes") == steps(tmp_path / "no") == list(range(10))
    for name in states(tmp_path / "no"):
        hashes = [launch(tmp_path, 1, "--hash", f"{way}/{name}").stdout.split()[0] for way in ("yes", "no")]
        assert hashes[0] == hashes[1]
