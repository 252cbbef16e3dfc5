"""What the commands of fdplot do; cli.py has their options."""

import os
import sys
from pathlib import Path

from .errors import UsageError
from .frames import AXES, Planes, spread
from .reader import SLICES, Run


def select_frames(run, args, frames, count=None):
    """The frames that --steps names, or --count of them; without --count `count` of them, or all."""
    if args.steps == "all":
        return frames
    if args.steps in ("first", "last"):
        return [frames[0 if args.steps == "first" else -1]]
    if args.steps and frames[0].step is None:
        raise UsageError(f"{run.path}: no steps to choose from: the file does not say any")
    return run.pick(args.steps, frames) if args.steps else spread(frames, args.count or count)


def with_fields(run, names, frames):
    """Those of the frames that hold the fields of these names, and the fields; by default the frames' first one. A name
    such as intensity stands for intensity_x, _y and _z. UsageError for an unknown field."""
    there = list(dict.fromkeys(field for frame in frames for field in frame.fields))
    fields = []
    for name in names or [frames[0].field]:
        parts = [name] if name in there else [f"{name}_{axis}" for axis in AXES]
        if not set(parts) <= set(there):
            raise UsageError(f"{run.path}: no field '{name}'; there are: {', '.join(there)}")
        fields += parts
    holding = [frame for frame in frames if set(fields) <= set(frame.fields)]
    if not holding:
        raise UsageError(f"{run.path}: no snapshot holds all of {', '.join(fields)}")
    if len(holding) < len(frames):
        tell(f"note: left out, for they have no {', '.join(fields)}: {len(frames) - len(holding)} of {len(frames)}")
    return holding, list(dict.fromkeys(fields))


def left_out(states):
    """A sentence about the frames that a movie leaves out."""
    steps = ", ".join(str(state.step) for state in states)
    return steps and f"note: left out, for they lie between evenly spaced frames: step {steps}; --steps all takes all"


def finer(run, frames):
    """A sentence if the run has slices of more steps than a movie of these snapshots shows."""
    if run.single or run.only or isinstance(frames[0], Planes) or len(run.slice_steps) <= len(frames):
        return ""
    steps = len(run.slice_steps)
    return f"note: {len(frames)} snapshots; of slices there are {steps} steps: fdplot movie {run.directory / SLICES}"


def target(args, run, name, field=None):
    """The path of the picture: -o, or `name` in the run directory (for a single file: beside it, with its name). Fields
    that are asked for in place of `field` are part of the name, as in slices_gradient.png."""
    if args.output:
        return Path(args.output)
    if field and args.field and args.field != [field]:
        name = "_".join([Path(name).stem, *args.field]) + Path(name).suffix
    return run.single.with_name(f"{run.name}_{name}") if run.single else run.directory / name


def tell(sentence):
    if sentence:
        print(sentence, file=sys.stderr)


def command_slices(args):
    from . import slices, style

    if args.axis is None and (args.index is not None or args.position is not None):
        raise UsageError("--index and --position need --axis")
    run = Run(args.run)
    states, fields = with_fields(run, args.field, run.frames)
    states = select_frames(run, args, states, 4)
    tell(run.remark(states))
    cuts = slices.choose_cuts(states[0], args.axis, args.index, args.position, args.project)
    shown = {field: slices.read_cuts(states, cuts, field) for field in fields}
    for field, planes in shown.items():
        tell(slices.missed(run, states, cuts, field, planes))
    tell(style.unsaid(slices.stretched(states[0].lengths, cuts)))
    fig = slices.draw_slices(run, states, cuts, shown, args.cmap, args.vmin, args.vmax)
    print(style.save(fig, target(args, run, "slices.png", run.field)))


def command_history(args):
    from . import flow_history, flow_reference, history, style

    run = Run(args.run)
    run = Run(run.directory)  # the table is the whole run's, even if a single state is given
    reference = flow_reference.read_reference(args.reference, run) if args.reference else None
    fig = history.draw_history(run, reference)
    if reference:
        tell(flow_reference.compressible(reference.name, run))
        print(*flow_reference.compare(run.diagnostics, flow_history.loss(run.diagnostics), reference), sep="\n")
    print(style.save(fig, target(args, run, "history.png")))


def command_watch(args):
    from . import slices, watch

    if args.axis is None and (args.index is not None or args.position is not None):
        raise UsageError("--index and --position need --axis")
    watch.wait_for(Path(args.run), tell, args.every)
    if not os.path.isdir(args.run):
        raise UsageError(f"{args.run}: a run directory is needed")

    whole = args.axis is not None or args.project  # slices cannot show every plane or a projection

    path = target(args, Run(args.run), "watch.png")
    colours = (args.cmap, args.vmin, args.vmax)

    def draw(found):
        run, frame = found
        _, fields = with_fields(run, args.field, [frame])
        cuts = slices.choose_cuts(frame, args.axis, args.index, args.position, args.project)
        return watch.draw_newest(run, frame, cuts, fields, path, colours)

    watch.watch(Path(args.run), draw, lambda step: print(f"{path}: step {step}", flush=True), tell, args.every,
                slices=not whole)  # fmt: skip


def command_movie(args):
    from . import movie, slices, style

    run = Run(args.run)
    states, fields = with_fields(run, args.field, run.frames)
    if states[0].time is None:
        raise UsageError(f"{run.path}: no movie: the file does not say its time")
    if len(fields) > 1:
        raise UsageError(f"--field {' '.join(args.field)}: a movie shows one field, such as {fields[0]}")
    (field,) = fields
    if args.steps is None:  # only without a list of steps
        states, out = movie.even_frames(states, run.every(states))
        tell(left_out(out))
    states = select_frames(run, args, states)
    tell(run.remark(states))
    tell(finer(run, states))
    cut = slices.choose_cuts(states[0], movie.axis(states[0], args.axis), args.index, args.position, args.project)[0]
    path = target(args, run, "movie.gif", run.field)
    writer = movie.movie_writer(path, args.fps)  # first, because it refuses file names before anything is read
    planes = slices.read_cuts(states, [cut], field)
    tell(slices.missed(run, states, [cut], field, planes))
    tick = frame_counter if sys.stderr.isatty() else None
    scale = style.colour_scale(planes[0], args.cmap, args.vmin, args.vmax, slices.signed(run, field))
    print(movie.make_movie(run, states, cut, planes[0], path, writer, field, scale, tick))


def command_convergence(args):
    from . import convergence, style

    runs = [Run(path) for path in args.runs]
    for run in runs:
        if run.single:
            raise UsageError(f"{run.path}: a run directory is needed: errors are those of a run's last row")
    fig, text = convergence.draw_convergence(runs, list(dict.fromkeys(args.norm)), args.orders)
    print(text)
    print(style.save(fig, Path(args.output) if args.output else common_folder(runs) / "convergence.png"))


def common_folder(runs):
    """The deepest folder that holds all the runs."""
    return Path(os.path.commonpath([run.directory.resolve().parent for run in runs]))


def command_spectrum(args):
    from . import flow, spectrum, style

    if args.kinetic and args.field:
        raise UsageError("--kinetic takes the place of --field")
    run = Run(args.run)
    states, fields = with_fields(run, flow.VELOCITY if args.kinetic else args.field, run.states)
    states = select_frames(run, args, states, 2)
    spectrum.refuse_ends(run, states)
    tell(run.remark(states))
    tell(spectrum.folded(states))
    fig = flow.draw_kinetic(run, states) if args.kinetic else spectrum.draw_spectrum(run, states, fields)
    name = "spectrum_kinetic.png" if args.kinetic else "spectrum.png"
    print(style.save(fig, target(args, run, name, run.field)))


def command_probes(args):
    from . import probes, style

    runs = [Run(path) for path in args.runs]
    fig, lines = probes.draw_probes(runs, args.field, args.spectrum, args.most, args.decay)
    print(*lines, sep="\n")
    several = len(runs) > 1 and not args.output
    print(style.save(fig, common_folder(runs) / "probes.png" if several else target(args, runs[0], "probes.png")))


def command_receivers(args):
    from . import receivers, style

    run = Run(args.run)
    if args.segy:
        print(receivers.write_segy(run, args.segy, args.interval, args.seconds, args.metres))
    print(style.save(receivers.draw_receivers(run, args.traces, args.clip), target(args, run, "receivers.png")))


def command_scaling(args):
    from . import scaling_report

    print(*scaling_report.write_report(args.study), sep="\n")


def command_throughput(args):
    from . import style, throughput

    results = throughput.read_results(args.benchmark)
    folder = Path(args.benchmark) if os.path.isdir(args.benchmark) else Path(args.benchmark).parent
    target = Path(args.output) if args.output else folder / "throughput.png"
    print(style.save(throughput.draw_throughput(results), target))


def frame_counter(number, total):
    """Progress on a terminal."""
    print(f"\rframe {number} of {total}", end="\n" if number == total else "", file=sys.stderr, flush=True)
