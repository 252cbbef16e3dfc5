import math
from dataclasses import replace

import pytest
from synthetic import stage_seconds

from fdpost import model

pytestmark = pytest.mark.quick

CEILINGS = model.Ceilings(((1, 1e9, 4e12),))
HOST = model.Machine(CEILINGS, efficiency=0.9, latency=20e-6, link=200e9, launch=5e-6, thin=0.5, join=8e-6)
DEVICE = replace(HOST, front=float(model.FRONT))
CUBE = model.Problem(512, 512, 512, 1, size=8)
KNOWN = {"speed": 0.9 * 4e12, "launch": 5e-6, "thin": 0.5, "join": 8e-6, "latency": 20e-6, "link": 200e9}
TRUTH = {"speed": 0.83 * 4e12, "launch": 7e-6, "thin": 0.4, "join": 14e-6, "latency": 45e-6, "link": 90e9}
TRUTH["front"] = 132 * 16384


def stage_of(problem, truth=TRUTH):
    """A stage by the test's own formula."""
    return stage_seconds(
        problem.nx, problem.ny, problem.nz // problem.ranks, problem.ranks, problem.size, problem.overlap, **truth
    )


def measured(problem, truth=TRUTH, parts=True):
    """What a made-up machine would show."""
    stage = stage_of(problem, truth)
    known = {"interior": 4 * stage.interior, "edges": 4 * stage.edges}
    if not parts or problem.ranks == 1 or not problem.overlap:
        known = {}
    return model.Measurement(problem, 4 * stage.total, 4e12 * problem.ranks, known)


def exchanges(truth=TRUTH):
    return [(sent, truth["latency"] + sent / truth["link"]) for sent in (1e5, 1e6, 1e7, 3e7)]


@pytest.mark.parametrize("machine", [HOST, DEVICE], ids=["cpu", "device"])
@pytest.mark.parametrize("plane", [256, 512, 1024])
@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("ranks", [1, 2, 4, 32, 64])
def test_terms_are_those_of_the_formula_written_out(ranks, overlap, size, plane, machine):
    problem = replace(CUBE, nx=plane, ny=plane, ranks=ranks, overlap=overlap, size=size)
    stage = stage_of(problem, KNOWN | ({"front": 132 * 16384} if machine.front else {}))
    terms = model.step_terms(machine, problem)
    assert terms.interior == pytest.approx(4 * stage.interior)
    assert terms.edges == pytest.approx(4 * stage.edges)
    assert (terms.halo, terms.exposed) == (pytest.approx(4 * stage.exchange), pytest.approx(4 * stage.shown))
    assert terms.overhead == pytest.approx(4 * stage.join)
    assert terms.total == pytest.approx(4 * stage.total)


def test_a_device_takes_the_longer_of_kernel_and_edges_with_halo():
    """With numbers: planes of half, one and four fronts, in seconds of a stage."""
    machine = replace(DEVICE, efficiency=1.0, launch=0.0, join=0.0, thin=1.0, latency=0.0, front=4096.0)
    machine = replace(machine, ceilings=model.Ceilings(((1, 1.0, 4096.0),)))  # a front of one word a second
    for plane, kernel, edges in ((2048, (64 * 3 + 16) / 2, 20), (4096, 64 * 3 + 16, 40), (16384, 832, 624 + 40)):
        problem = model.Problem(plane // 4, 1, 128, 2, size=4, words=12)
        for halo in (0.5 * (kernel - edges), 3 * (kernel - edges)):
            terms = model.step_terms(replace(machine, link=4 * plane / halo), problem)
            assert (terms.interior, terms.edges) == (pytest.approx(4 * kernel), pytest.approx(4 * edges))
            assert terms.total == pytest.approx(4 * max(kernel, edges + halo))


def test_the_largest_slab_counts_and_a_thin_one_is_all_edge():
    assert model.Problem(8, 8, 37, 4).planes == 10
    terms = model.step_terms(HOST, replace(CUBE, ranks=128))
    plane = 512 * 512 * 8 / (0.9 * 4e12)
    assert terms.edges == pytest.approx(4 * (5e-6 + plane / 0.5 * (4 * 11 / 4 + 8)))  # one range of 4 planes
    assert terms.interior == terms.hidden == 0
    terms = model.step_terms(DEVICE, replace(CUBE, ranks=128))
    assert terms.interior == terms.edges == pytest.approx(4 * (5e-6 + plane * (4 * 11 / 4 + 16)))
    assert terms.hidden == 0


def test_ceilings_by_ranks_and_size():
    known = ((1, 1e6, 8.0), (1, 1e8, 4.0), (2, 1e6, 3.0))
    problem = model.Problem(1000, 1000, 10, 1, size=1)  # a slab of 1e7 bytes
    assert model.Ceilings(known).of(problem) == pytest.approx(6.0)
    assert model.Ceilings(known).of(replace(problem, nz=40, ranks=4)) == 3.0
    assert model.Ceilings(known, shared=True).of(replace(problem, nz=40, ranks=4)) == 1.5


@pytest.mark.parametrize(("shared", "two"), [(True, 2e12), (False, 3e12)])
def test_ceilings_of_memories_of_their_own_are_those_of_any_rank_count(shared, two):
    one, pair = CUBE, replace(CUBE, ranks=2, nz=1024)
    seen = [model.Measurement(one, 1.0, 4e12), model.Measurement(pair, 1.0, 2 * 2e12)]
    assert model.measured_ceilings(seen, shared).of(pair) == pytest.approx(two)


def test_on_a_host_the_time_of_memory_and_of_the_cores_add_up():
    """Two ranks that share a memory lose no more than memory's part of it."""
    shared = model.Ceilings(((1, 1e9, 40e9), (2, 1e9, 25e9)), shared=True)
    machine = model.Machine(shared, latency=0.0, link=math.inf, launch=0.0, core=15e9)
    one, two = (model.step_time(machine, replace(CUBE, nz=512 * ranks, ranks=ranks)) for ranks in (1, 2))
    assert one == pytest.approx((512 * 11 + 4 * 8) * CUBE.plane_bytes * (1 / 40e9 + 1 / 15e9))
    assert two == pytest.approx((512 * 11 + 4 * (16 + 8)) * CUBE.plane_bytes * (1 / 25e9 + 1 / 15e9))
    seen = ((1, one, 40e9), (2, two, 25e9))
    runs = [model.Measurement(replace(CUBE, nz=512 * n, ranks=n), seconds, n * own) for n, seconds, own in seen]
    assert model.fit(runs, "cpu").core == pytest.approx(15e9, rel=0.02)


def test_a_host_is_predicted_by_the_bandwidth_that_its_ranks_have():
    """Not by that of two ranks alone: four may have twice as much, or no more."""
    truth = {name: value for name, value in TRUTH.items() if name != "front"}
    runs = [measured(replace(CUBE, nx=n, ny=n, ranks=ranks), truth) for n in (256, 512) for ranks in (1, 2, 4, 8)]
    few = [m for m in runs if m.problem.ranks < 4]
    machine = model.fit(few, "cpu", exchanges(truth), streams=runs)
    for m in runs:
        assert model.step_time(machine, m.problem) == pytest.approx(m.seconds, rel=0.02)
    large = replace(CUBE, ranks=8)
    without = model.step_time(model.fit(few, "cpu", exchanges(truth)), large)
    assert without > 2 * model.step_time(machine, large)


@pytest.mark.parametrize("size", [4, 8])
def test_fit_on_one_and_two_predicts_four_and_eight(size):
    grids = [replace(CUBE, nx=n, ny=n, nz=n, size=size, overlap=o) for n in (256, 512, 1024) for o in (True, False)]
    seen = [measured(replace(grid, ranks=ranks)) for grid in grids for ranks in (1, 2)]
    machine = model.fit(seen, exchanges=exchanges())
    assert machine.hiding == 1.0 and machine.untold == ()
    assert machine.efficiency == pytest.approx(0.83, rel=0.01)
    for name in ("launch", "thin", "join", "latency", "link"):
        assert getattr(machine, name) == pytest.approx(TRUTH[name], rel=0.1)
    for grid in grids:
        for ranks in (4, 8):
            problem = replace(grid, ranks=ranks)
            assert model.step_time(machine, problem) == pytest.approx(measured(problem).seconds, rel=0.02)


def test_fit_sees_that_nothing_is_hidden():
    seen = []
    for n in (256, 512):
        for ranks in (1, 2):
            one = measured(replace(CUBE, nx=n, ny=n, ranks=ranks))
            stage = stage_of(one.problem)
            seen.append(replace(one, seconds=one.seconds + 4 * (stage.exchange - stage.shown)))
    assert model.fit(seen, exchanges=exchanges()).hiding == 0.0


def test_figures_that_the_data_do_not_tell_stay_guessed_and_say_so():
    machine = model.fit([measured(CUBE)])
    assert {"latency", "link", "thin", "join"} <= set(machine.untold) and "efficiency" not in machine.untold
    for name in ("latency", "link", "thin", "join"):
        assert getattr(machine, name) == pytest.approx(model.GUESSES["cuda"][name])
    told = model.fit([measured(CUBE)], exchanges=exchanges())
    assert not {"latency", "link"} & set(told.untold)
    assert (told.latency, told.link) == (pytest.approx(45e-6, rel=0.03), pytest.approx(90e9, rel=0.03))


def test_parts_tell_edges_from_the_rest():
    grids = [replace(CUBE, nx=n, ny=n, nz=n, ranks=ranks) for n in (256, 512, 1024) for ranks in (1, 2)]
    with_parts = model.fit([measured(grid) for grid in grids])
    without = model.fit([measured(grid, parts=False) for grid in grids])
    assert with_parts.thin == pytest.approx(0.4, rel=0.02)
    assert abs(with_parts.thin - 0.4) < abs(without.thin - 0.4) / 2


def test_fit_of_a_host_has_edges_beside_the_interior():
    truth = {name: value for name, value in TRUTH.items() if name != "front"}
    seen = [measured(replace(CUBE, nx=n, ny=n, ranks=ranks), truth) for n in (256, 512, 1024) for ranks in (1, 2)]
    machine = model.fit(seen, backend="cpu", exchanges=exchanges(truth))
    assert machine.front == 0 and machine.thin == pytest.approx(0.4, rel=0.05)
    for m in seen:
        assert model.step_time(machine, m.problem) == pytest.approx(m.seconds, rel=0.02)


def test_terms_compared():
    problem = replace(CUBE, ranks=2)
    terms = model.step_terms(HOST, problem)
    told = model.Measurement(problem, terms.total + 3.0, 1.0, {"interior": 1.0, "edges": 0.5, "halo": math.nan})
    (first, one, two), (second, *_), (rest, left, ours) = model.compare_terms(HOST, told)
    assert (first, one, two, second) == ("interior", 1.0, terms.interior, "edges")
    assert (rest, left) == ("halo and overhead", pytest.approx(terms.total + 1.5))
    assert ours == pytest.approx(4 * 8e-6)  # all of the halo hidden: the joins
    assert model.compare_terms(HOST, model.Measurement(problem, 1.0, 1.0)) == []
    alone = model.Measurement(CUBE, 1.0, 1.0, {"interior": 0.6, "halo": 0.3})
    assert model.compare_terms(HOST, alone)[-1] == ("overhead", pytest.approx(0.1), 0.0)


def test_edges_within_the_interior_are_no_summand():
    problem = replace(CUBE, ranks=2)
    terms = model.step_terms(DEVICE, problem)
    told = model.Measurement(problem, terms.total + 3.0, 1.0, {"interior": 1.0, "edges": 0.5})
    assert model.compare_terms(DEVICE, told) == [
        ("interior", 1.0, terms.interior),
        ("halo and overhead", pytest.approx(terms.total + 2.0), pytest.approx(4 * 8e-6)),
    ]
    assert "edges" not in model.shown_terms(terms) and terms.edges > 0
    late = replace(told, seconds=1.3 * terms.total, parts={"interior": 1.3 * terms.interior, "edges": terms.edges})
    assert model.blame(DEVICE, late)[1] == "interior"


@pytest.mark.parametrize("term", ["interior", "edges", "halo"])
def test_blame_names_the_term(term):
    problem = replace(CUBE, ranks=2)
    terms = model.step_terms(HOST, problem)
    parts = {"interior": terms.interior, "edges": terms.edges, "halo": terms.exposed}
    fine = model.Measurement(problem, terms.total * 1.09, 1.0, parts)
    assert model.blame(HOST, fine) is None
    slow = 0.3 * terms.total
    late = model.Measurement(problem, terms.total + slow, 1.0, parts | {term: parts[term] + slow})
    ratio, name, _ = model.blame(HOST, late)
    assert (ratio, name) == (pytest.approx(1.3), term)
    elsewhere = model.Measurement(problem, terms.total + slow, 1.0, parts)
    assert model.blame(HOST, elsewhere)[1] == "overhead"


def test_blame_without_measured_parts_takes_the_smallest_change():
    problem = replace(CUBE, ranks=2)
    late = model.Measurement(problem, 1.3 * model.step_time(DEVICE, problem), 1.0)
    assert model.blame(DEVICE, late)[1] == "interior"


def test_strong_scaling_stops():
    ranks, efficiency, why = model.strong_end(DEVICE, CUBE)
    assert 8 <= ranks <= 128 and 0.2 < efficiency < 0.9
    slow = replace(DEVICE, latency=2e-3)
    fewer, _, reason = model.strong_end(slow, CUBE)
    assert fewer < ranks and reason == "halo"
    free = replace(DEVICE, latency=0.0, link=1e30, launch=0.0, join=0.0)
    assert model.strong_end(free, replace(CUBE, nz=64))[0] <= 16
    assert why in ("edges", "halo", "overhead")


def test_improvements_change_one_term_each():
    problem = replace(CUBE, ranks=16)
    cases = {name: model.step_terms(machine, problem) for name, machine in model.improved(HOST).items()}
    as_it_is = cases.pop("as it is")
    edges, join, exchange = cases.values()
    assert edges.edges == pytest.approx(4 * 5e-6 + (as_it_is.edges - 4 * 5e-6) / 2)
    assert join.total == pytest.approx(as_it_is.total - 4 * 8e-6)
    assert exchange.halo == pytest.approx(as_it_is.halo / 2)


def test_weak_scaling_is_flat_beyond_two_ranks():
    curve = model.weak(DEVICE, CUBE, [1, 2, 4096])
    assert curve[0][2] == 1.0
    assert curve[1][1] == pytest.approx(curve[2][1])


def test_least_link_just_hides_the_halo():
    problem = replace(CUBE, ranks=2)
    least = model.least_link(DEVICE, problem)
    assert model.step_terms(replace(DEVICE, link=1.001 * least), problem).exposed == pytest.approx(0.0, abs=1e-12)
    assert model.step_terms(replace(DEVICE, link=0.9 * least), problem).exposed > 1e-5
    assert model.least_link(DEVICE, replace(problem, ranks=64)) == math.inf


def test_parts_that_exceed_the_step_blame_one_of_them():
    """Parts are timed on one stage and scaled: what is left of the step after them can be negative, which is no time
    that anything took."""
    machine = model.Machine(
        model.Ceilings(((1, 1e6, 1e10),), shared=True), efficiency=0.5, latency=1e-5, link=1e9, launch=1e-5
    )
    problem = model.Problem(64, 64, 64, 2)
    terms = model.step_terms(machine, problem)
    parts = {"interior": 1.5 * terms.interior, "edges": 0.5 * terms.edges}
    measured = model.Measurement(problem, 0.8 * terms.total, 1e10, parts)
    assert model.compare_terms(machine, measured)[-1][1] < 0
    assert model.blame(machine, measured)[1] == "edges"
