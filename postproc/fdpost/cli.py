"""Command line of fdplot."""

import argparse
import math
import os
import sys
from pathlib import Path

from .errors import UsageError, run_command
from .frames import AXES, Planes, spread
from .reader import SLICES, Run

NORMS = ("l1", "l2", "linf")
LOOK = ("title", "size", "dpi", "font", "font_size", "log")  # options that are members of style.Look
OVERVIEW = """Pictures of runs of fdapp. A RUN_DIR is a run's output directory, its folder fields/ or slices/, or a
single file of one where that is enough. What is shown are the snapshots that the run kept; where it kept none, its
slices, or else its checkpoints. Pictures go into the run directory unless -o says otherwise; the ending of the name
chooses the format (png, pdf, svg; movies gif, mp4). Exit codes: 0 done, 2 wrong request, 3 data that cannot be used,
130 interrupted."""

EXAMPLES = {
    "slices": """examples:
  fdplot slices runs/quickstart                     three mid-planes at four times
  fdplot slices runs/quickstart --steps last        the last state only
  fdplot slices runs/quickstart --project           seen through: strongest values along z, y, x
  fdplot slices runs/deformation --axis z --position 0.25 --count 6
  fdplot slices runs/waves --field p u              one block of planes for each field
  fdplot slices runs/sound --field intensity        its components, where output.derived added them
  fdplot slices runs/deformation/state_00000400.hdf --cmap cividis -o figure.pdf""",
    "history": """examples:
  fdplot history runs/quickstart
  fdplot history runs/quickstart --title "" --size 3.4 3 --font-size 7 -o history.pdf     for a column of a paper""",
    "watch": """examples:
  fdplot watch runs/quickstart                      watch.png of the newest slices, or else of the newest
                                                    kept snapshot, until the run is done
  fdplot watch runs/quickstart --every 2 --axis z --project
An image viewer that reloads changed files shows it as it goes. Ctrl-C ends the watching, not the run.""",
    "movie": """examples:
  fdplot movie runs/quickstart                      mid-plane normal to z, every snapshot, as GIF
  fdplot movie runs/deformation --axis y --fps 20 -o deformation.mp4
  fdplot movie runs/quickstart/slices --axis x      of the slices, which may be written more often""",
    "convergence": """examples:
  fdplot convergence runs/n32 runs/n64 runs/n128
  fdplot convergence runs/n* --norm l2 linf --orders 4 8 -o convergence.pdf
without -o the picture goes into the folder that holds the runs""",
    "scaling": """examples:
  fdplot scaling runs/scaling/weak                  leaves report.md, weak.png, model.png, extrapolation.png there""",
    "throughput": """examples:
  fdplot throughput runs/benchmark                  the figure of merit against the grid's size""",
    "spectrum": """examples:
  fdplot spectrum runs/quickstart                   first and last state
  fdplot spectrum runs/deformation --steps 0,200,400
It needs all points of a period along each axis: boxes and axes with ends are refused.""",
}


def step_list(text):
    """'0,100,200', 'first', 'last', or 'all'."""
    if text in ("all", "first", "last"):
        return text
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}': steps are numbers with commas, or first, last, all") from error


def finite(text):
    """A number, neither infinite nor none."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


finite.__name__ = "number"


def positive(kind, least=0, most=math.inf):
    """Parser of a positive number, finite and not beyond what is given."""

    def parse(text):
        value = kind(text)
        if not 0 < value < math.inf or not least <= value <= most:
            raise ValueError
        return value

    parse.__name__ = f"positive {kind.__name__}"
    return parse


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


def target(args, run, name):
    """The path of the picture: -o, or `name` in the run directory (for a single file: beside it, with its name)."""
    if args.output:
        return Path(args.output)
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
    print(style.save(fig, target(args, run, "slices.png")))


def command_history(args):
    from . import history, style

    run = Run(args.run)
    run = Run(run.directory)  # the table is the whole run's, even if a single state is given
    print(style.save(history.draw_history(run), target(args, run, "history.png")))


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
    path = target(args, run, "movie.gif")
    writer = movie.movie_writer(path, args.fps)  # first, because it refuses file names before anything is read
    planes = slices.read_cuts(states, [cut], field)
    tell(slices.missed(run, states, [cut], field, planes))
    tick = frame_counter if sys.stderr.isatty() else None
    scale = style.colour_scale(planes[0], args.cmap, args.vmin, args.vmax)
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
    from . import spectrum, style

    run = Run(args.run)
    states, fields = with_fields(run, args.field, run.states)
    states = select_frames(run, args, states, 2)
    spectrum.refuse_ends(run, states)
    tell(run.remark(states))
    tell(spectrum.folded(states))
    fig = spectrum.draw_spectrum(run, states, fields)
    print(style.save(fig, target(args, run, "spectrum.png")))


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


def add_fields(parser, count_help):
    group = parser.add_argument_group("what to show")
    names = "fields (default: the equation's first)"
    group.add_argument("--field", nargs="+", metavar="NAME", help=names)
    which = group.add_mutually_exclusive_group()
    which.add_argument("--steps", type=step_list, metavar="LIST", help="steps '0,100,200', or first, last, all")
    which.add_argument("--count", type=positive(int), metavar="N", help=count_help)


def add_plane(parser, axis_help):
    group = parser.add_argument_group("where to cut")
    group.add_argument("--axis", choices=AXES, metavar="x|y|z", help=axis_help)
    where = group.add_mutually_exclusive_group()
    where.add_argument(
        "--index", type=int, metavar="I", help="plane number along the axis (from 0; negative from the end)"
    )
    where.add_argument(
        "--position", type=finite, metavar="X", help="position along the axis; the nearest plane is taken"
    )
    where.add_argument("--project", action="store_true", help="no plane: the strongest values along the axis")
    group = parser.add_argument_group("colours")
    group.add_argument(
        "--cmap", metavar="NAME", help="colour map (default: viridis; RdBu_r about zero for signed data)"
    )
    group.add_argument(
        "--vmin", type=finite, metavar="V", help="lower end of the colour scale (default: from the data)"
    )
    group.add_argument("--vmax", type=finite, metavar="V", help="upper end of the colour scale")


def add_look(parser, log):
    """Options of every picture; log: colours may follow a logarithm."""
    group = parser.add_argument_group("how it looks")
    group.add_argument("--title", metavar="TEXT", help="in place of the run's name; '' for no heading at all")
    group.add_argument("--size", nargs="+", type=positive(float, 1, 100), metavar="INCHES",
                       help="width, or width and height, in inches")  # fmt: skip
    group.add_argument("--dpi", type=positive(int, 20, 2400), metavar="N", help="pixels per inch")
    group.add_argument("--font", metavar="NAME", help="an installed font (default: DejaVu Sans)")
    group.add_argument("--font-size", type=positive(float, 4, 40), metavar="POINTS", help="of the text (default: 9)")
    if log:
        group.add_argument("--log", action="store_true", help="colours by the logarithm of the value")


def add_command(commands, name, function, summary, output=True, log=False):
    parser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=EXAMPLES[name],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(function=function)
    if output:
        parser.add_argument("-o", "--output", metavar="FILE", help="where to write (default: into the run directory)")
        add_look(parser, log)
    return parser


def make_parser():
    """The whole command line."""
    parser = argparse.ArgumentParser("fdplot", description=OVERVIEW)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    slices = add_command(commands, "slices", command_slices, "planes through the domain, several times side by side",
                         log=True)  # fmt: skip
    slices.add_argument("run", metavar="RUN_DIR")
    add_fields(slices, "number of states, spread over the run (default: 4)")
    add_plane(slices, "only planes normal to this axis (default: all three)")
    history = add_command(commands, "history", command_history, "mass, norm, extrema and errors over time")
    history.add_argument("run", metavar="RUN_DIR")
    watch = add_command(commands, "watch", command_watch, "a picture that follows a run, until the run ends", log=True)
    watch.add_argument("run", metavar="RUN_DIR")
    watch.add_argument("--field", nargs="+", metavar="NAME", help="fields (default: the equation's first)")
    watch.add_argument("--every", type=positive(float), default=2.0, metavar="SECONDS",
                       help="between looks at the directory (default: 2)")  # fmt: skip
    add_plane(watch, "only the plane normal to this axis (default: all three)")
    movie = add_command(commands, "movie", command_movie, "one plane over time, as an animated GIF or an MP4", log=True)
    movie.add_argument("run", metavar="RUN_DIR")
    add_fields(movie, "number of frames, spread over the run (default: every snapshot at the same distance)")
    add_plane(movie, "axis normal to the plane (default: z)")
    frames = "frames per second, 0.1 to 240, of a GIF at most 50 (default: 12)"
    movie.add_argument("--fps", type=positive(float, 0.1, 240), default=12, metavar="N", help=frames)
    convergence = add_command(
        commands, "convergence", command_convergence, "errors of several runs against the spacing"
    )
    convergence.add_argument("runs", nargs="+", metavar="RUN_DIR", help="runs to the same time on different grids")
    convergence.add_argument("--norm", nargs="+", choices=NORMS, default=list(NORMS), help="norms (default: all three)")
    convergence.add_argument("--orders", nargs="+", type=positive(float), metavar="P",
                             help="orders of the reference slopes (default: the nearest whole one)")  # fmt: skip
    spectrum = add_command(commands, "spectrum", command_spectrum, "shell-averaged power spectrum of a field")
    spectrum.add_argument("run", metavar="RUN_DIR")
    add_fields(spectrum, "number of states, spread over the run (default: 2, the first and the last)")
    scaling = add_command(
        commands, "scaling", command_scaling, "report and plots of a study made by run/scaling", False
    )
    scaling.add_argument("study", metavar="DIR", help="the study's directory, with results.csv")
    throughput = add_command(
        commands, "throughput", command_throughput, "figure of merit against the grid's size, of run/benchmark"
    )
    throughput.add_argument("benchmark", metavar="DIR", help="the directory with benchmark.json, or that file")
    return parser


def main(arguments=None):
    """Entry point; returns the exit code."""
    args = make_parser().parse_args(arguments)
    return run_command(lambda: dressed(args))


def dressed(args):
    """Run the command with the look of its options in force, from making the figure to saving the file."""
    from . import style

    chosen = {name: value for name in LOOK if (value := getattr(args, name, None)) is not None}
    if len(chosen.get("size", ())) > 2:
        raise UsageError("--size takes a width, or a width and a height")
    with style.look(**chosen):
        args.function(args)
