"""The report of a scaling study: report.md and its plots; notes.md, if there, goes into it."""

import json
import math
from dataclasses import replace
from pathlib import Path

from . import model, scaling_plots, style
from .errors import DataError
from .scaling import (
    STRONG_GRIDS,
    WEAK_RANKS,
    beyond,
    cube,
    fit_machines,
    fitted_ranks,
    machine_key,
    read_curves,
    read_exchanges,
    tested_machines,
)

STRONG_RANKS = (4, 8, 16, 32, 64)
PIXELS = 150  # an inch
BUSY = 0.25  # load per core from which other programs disturb
WIDE = 1.25  # largest over smallest time of one command from which its median is doubtful
MEASURED_NOTE = (
    "Medians over the runs; the spread is from the smallest to the largest. Speed-up (points per second) and"
    " efficiency are against the smallest number of ranks in the table; beside the speed-up stands the ideal one. Halo"
    " and waiting: on CPUs what the host waits for, the first exchange included, which opens connections; on devices,"
    " where the host runs ahead, the exchange from the edges being there to its end, waiting for neighbours included,"
    " as timed on one stage. On devices most of it is hidden: the table of parts, below, says what is lost."
)
UNTESTED = (
    "- No measurement tests the model: it has as many figures as there are times to fit it to, so it agrees with them"
    " by itself, and no line of it is drawn. A study of three rank counts or more tests it."
)

WORDS = {
    "ceiling": "bytes per second of a streaming loop with the reads and writes of a stage, in the same run",
    "share of ceiling": "bytes that a step has to move, over its time, over the ceiling",
    "stage": "one evaluation of the right-hand side; a Runge-Kutta step has 3 to 5",
    "edges, interior": "the planes that neighbours need, computed first, and the rest of a slab",
    "halo": "the exchange of edge planes with the neighbours, which overlaps with the interior",
    "start of a kernel": "time until a kernel, or on CPUs a loop of all threads, is at full speed",
    "time between stages": "what passes between stages beside all of that, waiting for a slower neighbour included",
    "barely fixed by these data": "another value would describe the measurements nearly as well",
}


def table(header, rows):
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def curve_section(curve, machine, fitted):
    """Measured and modelled figures of one curve. machine: None if no point tests its model."""
    rows = []
    first = curve.points[0]
    for point, (_, efficiency) in zip(curve.points, curve.efficiencies()):
        middle, low, high = (1e3 * value for value in point.seconds)
        row = [point.ranks, point.repeats, f"{middle:.4g}", f"{low:.4g} – {high:.4g}"]
        row += [f"{point.points_per_second / first.points_per_second:.2f} of {point.ranks / first.ranks:g}"]
        row += [f"{100 * efficiency:.1f} %"]
        row += [f"{100 * point.share[0]:.1f} %"]
        if machine is None:
            row += ["", ""]
        else:
            seconds = model.step_time(machine, point.measurement.problem)
            kind = "fitted" if point.ranks in fitted else "**predicted**"
            row += [f"{1e3 * seconds:.4g} ({kind})", f"{100 * (point.seconds[0] / seconds - 1):+.1f} %"]
        middle, low, high = (1e3 * value for value in curve.waits(point))
        row += [f"{middle:.3g} ({low:.3g} – {high:.3g})" if point.ranks > 1 and middle >= 0 else ""]
        rows.append(row)
    header = ["ranks", "runs", "ms per step", "spread", "speed-up", "efficiency", "share of ceiling", "model, ms"]
    header += ["measured against model", "halo and waiting, ms per step"]
    return f"### {curve_title(curve)}\n\n{table(header, rows)}\n"


def curve_title(curve):
    return f"{curve.mode}, {curve.label} ({curve.backend}, {curve.transport}, overlap {curve.overlap})"


def threads_section(curves):
    """Combinations of ranks and threads side by side; nothing where there is but one number of threads."""
    groups = {}
    for curve in curves:
        groups.setdefault((curve.mode, curve.grid, curve.precision), []).append(curve)
    rows = []
    for (mode, grid, precision), found in groups.items():
        if not all(curve.threads for curve in found) or len(found) < 2:
            continue
        points = [(point, int(curve.threads.split()[0])) for curve in found for point in curve.points]
        points.sort(key=lambda pair: (pair[0].ranks, pair[1]))
        first = points[0][0].points_per_second
        for point, threads in points:
            middle, low, high = (1e3 * value for value in point.seconds)
            row = [f"{mode} {grid} {precision}", f"{point.ranks} × {threads}", f"{middle:.4g}"]
            rows.append([*row, f"{low:.4g} – {high:.4g}", f"{point.points_per_second / first:.2f}"])
    if not rows:
        return []
    header = ["study", "ranks × threads of each", "ms per step", "spread", "points per second over the first row's"]
    return ["## Ranks and threads", "", table(header, rows), ""]


def prediction_section(curves, machines):
    """Predictions of the model, fitted on the smallest two rank counts, for the larger ones, and the measured times."""
    fitted, rows = fitted_ranks(curves), []
    for curve in curves:
        key = machine_key(curve)
        efficiencies = dict(curve.efficiencies())
        first = model.step_time(machines[key], curve.points[0].measurement.problem)
        for point in curve.points:
            if point.ranks in fitted[key]:
                continue
            seconds = model.step_time(machines[key], point.measurement.problem)
            work = point.ranks / curve.points[0].ranks if curve.mode == "strong" else 1.0
            found = model.blame(machines[key], point.measurement)
            rows.append(
                [
                    f"{curve.mode} {curve.label}",
                    point.ranks,
                    f"{1e3 * seconds:.4g}",
                    f"{1e3 * point.seconds[0]:.4g}",
                    f"{100 * (point.seconds[0] / seconds - 1):+.1f} %",
                    f"{100 * first / (work * seconds):.0f} %",
                    f"{100 * efficiencies[point.ranks]:.0f} %",
                    f"**{found[1]}**: {found[2]}" if found else "",
                ]
            )
    if not rows:
        return "Nothing to predict: that takes more than two rank counts."
    counts = sorted({count for few in fitted.values() for count in few})
    header = ["study", "ranks", "predicted, ms per step", "measured", "difference"]
    header += ["efficiency predicted", "measured", "main cause beyond 10 %"]
    return (
        f"The model saw the runs on {' and '.join(map(str, counts))} ranks alone, and was asked for the rest"
        f"{'; of those, on CPUs, the bandwidth of streams' * any(curve.backend == 'cpu' for curve in curves)}.\n\n"
        + table(header, rows)
    )


def terms_section(curves, machines):
    """The parts of a stage, measured and modelled."""
    rows = []
    for curve in curves:
        for point in curve.points:
            m, machine = point.measurement, machines[machine_key(curve)]
            compared = model.compare_terms(machine, m)
            if not compared or point.ranks == 1:
                continue
            scale = 1e6 / m.problem.stages
            terms = model.step_terms(machine, m.problem)
            pairs = [(name, ours, getattr(terms, name)) for name, ours in m.known.items() if name != "halo"]
            pairs += [pair for pair in compared[:-1] if pair[0] == "halo"]
            told = {name: f"{scale * ours:.4g} / {scale * theirs:.4g}" for name, ours, theirs in pairs}
            _, ours, theirs = compared[-1]
            row = [f"{curve.mode} {curve.label}", point.ranks, f"{scale * m.seconds:.4g}"]
            row += [told.get(name, "") for name in ("interior", "edges", "halo")]
            row += [f"{scale * ours:.3g} / {scale * theirs:.3g}"]
            row += [f"{scale * terms.halo:.3g}"]
            rows.append(row)
    if not rows:
        return "Parts of a stage were not measured."
    header = ["study", "ranks", "stage", "interior", "edges", "halo that shows", "rest", "exchange by the model"]
    note = (
        "Microseconds of a mean stage, measured / modelled. On devices edges are a part of the interior, which is the"
        " kernel on all planes. The rest is what no measured part accounts for: on devices what passes between kernels"
        " (neighbours that are behind included) and what of the halo shows, on CPUs what ranges and exchange wait for"
        " one another. Parts are timed on one stage and scaled to the mean one: where they come to more than the step,"
        " the rest is negative.\n\n"
    )
    return note + table(header, rows)


def machines_section(machines, fitted):
    def marked(machine, name, text):
        return f"{text} (barely fixed by these data)" if name in machine.untold else text

    rows = [
        [
            " ".join(filter(None, key)),
            ", ".join(map(str, fitted[key])),
            f"{1e-9 * max(value for _, _, value in m.ceilings.known):.4g}",
            marked(m, "efficiency", f"{100 * m.efficiency:.1f} %") if math.isinf(m.core) else "",
            "" if math.isinf(m.core) else marked(m, "core", f"{1e-9 * m.core:.3g}"),
            marked(m, "launch", f"{1e6 * m.launch:.3g}"),
            marked(m, "thin", f"{100 * m.thin:.0f} %"),
            marked(m, "join", f"{1e6 * m.join:.3g}"),
            marked(m, "latency", f"{1e6 * m.latency:.3g}"),
            marked(m, "link", f"{1e-9 * m.link:.3g}"),
            "all" if m.hiding else "nothing",
        ]
        for key, m in machines.items()
    ]
    header = ["machine", "fitted on ranks", "ceiling of a rank, GB/s", "share of it that a stage reaches"]
    header += ["rate of a rank's cores, GB/s", "start of a kernel, µs", "edges' share of the interior's speed"]
    header += ["time between stages, µs", "halo latency, µs"]
    return table([*header, "halo link, GB/s each way", "overlap hides"], rows)


def misfits(curves, machines, fitted):
    """A sentence for each machine that the model describes badly, though it was fitted there."""
    worst = {}
    for curve in curves:
        key = machine_key(curve)
        for point in curve.points:
            if point.ranks in fitted[key]:
                off = abs(point.seconds[0] / model.step_time(machines[key], point.measurement.problem) - 1)
                worst[key] = max(worst.get(key, 0.0), off)
    return [
        f"**{' '.join(filter(None, key))}: the model misses runs that it was fitted on by up to {100 * off:.0f} %:"
        " its figures in the table are no better than that.**\n"
        for key, off in worst.items()
        if off > 0.1
    ]


def disagreements(curves, machines):
    """Lines about points where model and measurement part by more than 10 %, of machines whose model is tested."""
    if not machines:
        return [UNTESTED]
    lines = []
    for curve in curves:
        for point in curve.points if machine_key(curve) in machines else ():
            found = model.blame(machines[machine_key(curve)], point.measurement)
            if found:
                ratio, term, why = found
                where = f"{curve.mode}, {curve.label}, {point.ranks} rank{'s' * (point.ranks > 1)}"
                lines.append(
                    f"- {where}: {100 * (ratio - 1):+.0f} % against the model; main cause: **{term}** ({why})."
                )
    return lines or ["- Nowhere."]


def extrapolation_section(curves, machines):
    """The end of strong scaling, the changes that would move it, and a prediction of weak scaling."""
    found = beyond(curves, machines)
    if not found:
        return (
            "None: ranks that share one host's memory say nothing about many hosts."
            if any(curve.backend == "cpu" for curve in curves)
            else "None: one rank alone says nothing about an exchange, nor a model that no measurement tests."
        )
    strong, gains, weak = [], [], []
    for precision, like, machine in found:
        for n in STRONG_GRIDS:
            problem = cube(like, n)
            ranks, _, why = model.strong_end(machine, problem)
            end = replace(problem, ranks=ranks)
            row = [f"{n}³ {precision}", *strong_percents(machine, problem, STRONG_RANKS), ranks, end.planes]
            strong.append([*row, f"{1e3 * model.step_time(machine, end):.3g}", why])
            improved = model.improved(machine).values()
            gains.append([f"{n}³ {precision}", *(strong_percents(each, problem, [8])[0] for each in improved)])
        for n in (256, 512):
            problem = cube(like, n)
            (_, _, two), (_, seconds, most) = model.weak(machine, problem, [2, WEAK_RANKS])
            row = [f"{n}³ per rank {precision}", f"{100 * two:.0f} %", f"{100 * most:.0f} %", f"{1e3 * seconds:.3g}"]
            least = model.least_link(machine, replace(problem, nz=2 * n, ranks=2))
            weak.append([*row, f"{1e-9 * least:.3g}"])
    header = ["strong scaling, efficiency on", *STRONG_RANKS, "stops at", "planes per rank there", "ms per step there"]
    stop_note = (
        "Strong scaling is said to stop where doubling the ranks makes a step less than 1.25 times faster, or slabs"
        " have 4 planes. Efficiency is against the model's own time on one rank, whether or not the grid would fit"
        " there."
    )
    guessed = any("link" in machine.untold for _, _, machine in found)
    link = "a link that these data barely fix, in part a guess" if guessed else "the link measured"
    weak_note = (
        "In weak scaling no term of the model grows beyond 2 ranks. The link needed still hides the halo; below it, and"
        " by the jitter of many ranks, efficiency falls: these are upper bounds. Strong scaling is with"
        f" {link}. All by the model: where less was measured above, less is to be expected here."
    )
    blocks = (
        table([*header, "what limits"], strong),
        stop_note,
        table(["weak scaling", "2 ranks", f"{WEAK_RANKS} ranks", "ms per step", "link needed, GB/s each way"], weak),
        weak_note,
        "What would pay: strong scaling on 8 ranks by the model, one term at a time.",
        table(["efficiency on 8 ranks", *model.improved(found[0][2])], gains),
    )
    return "\n\n".join(blocks)


def strong_percents(machine, problem, counts):
    """Efficiencies of strong scaling, for a table; nothing where slabs would have fewer than 4 planes."""
    curve = model.strong(machine, problem, counts)
    return [f"{100 * e:.0f} %" if ranks * model.HALO <= problem.nz else "" for ranks, _, e in curve]


def read_provenance(directory):
    """The study's provenance.json, None if it has none."""
    path = Path(directory) / "provenance.json"
    if not path.exists():
        return None
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise DataError(f"{path}: {error}") from error


def provenance_section(directory):
    facts = read_provenance(directory)
    if facts is None:
        return "No provenance.json."
    try:
        return "```\n" + "\n".join(provenance_lines(facts)) + "\n```"
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{Path(directory) / 'provenance.json'}: not written by run/scaling") from error


def warnings_section(facts, curves):
    """Sentences about what makes the figures doubtful; empty if nothing does."""
    lines = []
    for start in (facts or {}).get("starts", []):
        load, cores = start.get("load", 0.0), start.get("cores", math.inf)
        if load > BUSY * cores:
            lines.append(f"- Other programs were running on {start.get('date', '')}: the load was {load:.1f} on {cores}"
                         f" core{'s' * (cores != 1)} before the first run.")  # fmt: skip
    for curve in curves:
        for point in curve.points:
            middle, low, high = (1e3 * value for value in point.seconds)
            if high > WIDE * low:
                where = f"{curve.mode}, {curve.label}, {point.ranks} rank{'s' * (point.ranks > 1)}"
                lines.append(f"- {where}: the same command took {low:.4g} to {high:.4g} ms per step; the median of"
                             f" {point.repeats} runs, {middle:.4g} ms, is uncertain by as much.")  # fmt: skip
    return ["## Doubtful figures", "", *lines, ""] if lines else []


def provenance_lines(facts):
    """The program, the machine and the circumstances, a line each."""
    identity = facts["identity"]
    lines = [*identity.get("program", []), f"overrides {' '.join(identity.get('overrides', [])) or 'none'}"]
    lines += [f"launcher  {' '.join(identity.get('launcher', []))}", f"mpirun    {facts.get('mpi', '')}"]
    lines += [f"gpu       {gpu}" for gpu in facts.get("gpus", [])]
    links = [link.split() for link in facts.get("links", []) if link.startswith("GPU")]
    lines += [f"links     {' '.join(words)}" for words in links if "X" in words]
    lines += facts.get("cpu", [])
    lines += [f"kernel {facts.get('kernel', '')}, clock source {facts.get('clock source', '')}"]
    for start in facts.get("starts", []):
        lines.append(f"measured {start.get('date', '')}, load {start.get('load', float('nan')):.2f}")
    shared = dict.fromkeys(text for start in facts.get("starts", []) for text in start.get("shared", []))
    lines += [f"{text}, and their efficiency is not the program's" for text in shared]
    return lines


def write_report(directory):
    """Write report.md and its plots into the study's directory; returns the paths written."""
    directory = Path(directory)
    if not directory.is_dir():
        raise DataError(f"{directory}: no such directory")
    curves = read_curves(directory)
    machines = fit_machines(curves, read_exchanges(directory))
    fitted = fitted_ranks(curves)
    note = scaling_plots.fit_note(curves)
    tested = tested_machines(curves, machines)
    paths = []
    for mode in dict.fromkeys(curve.mode for curve in curves):
        chosen = [curve for curve in curves if curve.mode == mode]
        paths.append(
            style.save(scaling_plots.draw_study(chosen, tested, mode, note), directory / f"{mode}.png", PIXELS)
        )
    if tested:
        paths.append(style.save(scaling_plots.draw_agreement(curves, tested, note), directory / "model.png", PIXELS))
    if beyond(curves, tested):
        picture = scaling_plots.draw_extrapolation(curves, tested)
        paths.append(style.save(picture, directory / "extrapolation.png", PIXELS))
    pictures = [f"![{path.stem}]({path.name})\n" for path in paths]
    sections = [curve_section(curve, tested.get(machine_key(curve)), fitted[machine_key(curve)]) for curve in curves]
    notes = directory / "notes.md"
    text = [
        *("# Scaling study", "", provenance_section(directory), ""),
        *warnings_section(read_provenance(directory), curves),
        *("## Measured", "", *pictures, MEASURED_NOTE, ""),
        *sections,
        *threads_section(curves),
        *("## Prediction", "", prediction_section(curves, machines), ""),
        *("## Model", "", machines_section(machines, fitted), ""),
        *misfits(curves, machines, fitted),
        *("Where it parts from the measurement by more than 10 %:", "", *disagreements(curves, tested), ""),
        *("### Where a stage's time goes", "", terms_section(curves, machines), ""),
        *("## Beyond the machine", "", extrapolation_section(curves, tested), ""),
        *("## Words", "", table(["word", "meaning"], list(WORDS.items())), ""),
        *(("## Notes", "", notes.read_text("utf-8", errors="replace")) if notes.exists() else ()),
    ]
    with style.whole_file(directory / "report.md") as part:
        part.write_text("\n".join(text), encoding="utf-8")
    return [directory / "report.md", *paths]
