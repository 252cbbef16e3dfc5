"""Command line of fdplot. It imports no package, so that --help works without any."""

import argparse
import math
import os

from .errors import UsageError, run_command

NORMS = ("l1", "l2", "linf")
LOOK = ("title", "size", "dpi", "font", "font_size", "log", "depth")  # options that are members of style.Look
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
  fdplot slices runs/layers --axis y --depth        z downwards, as below the surface of the sea
  fdplot slices runs/deformation/state_00000400.hdf --cmap cividis -o figure.pdf""",
    "history": """examples:
  fdplot history runs/quickstart
  fdplot history runs/quickstart --title "" --size 3.4 3 --font-size 7 -o history.pdf     for a column of a paper
  fdplot history runs/taylor-green --reference taylor-green       energy and its loss beside the spectral solution""",
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
    "probes": """examples:
  fdplot probes runs/room                           of all points in output.probes; prints the spectra's peaks
  fdplot probes runs/room --field p --most 200 -o spectrum.pdf
  fdplot probes runs/a runs/b runs/c --field p      of several runs, in one picture in the folder that holds them
  fdplot probes runs/hall --field p --decay         how fast modes fall, too, where peaks are far enough apart
Peaks are found far more finely than the lines of a spectrum lie apart, where no other peak is within two of them; the
others are marked by * and hollow dots, and known to about a line. Modes nearer than two lines may appear as one peak
without a mark; a longer run tells them apart.
Steps of different lengths are interpolated to equal ones; where gaps are too long for that, there is no spectrum.""",
    "receivers": """examples:
  fdplot receivers runs/layers                      section of all traces, and some of them
  fdplot receivers runs/layers --traces 0 30 60 --clip 0.01 -o section.pdf
  fdplot receivers runs/layers --segy layers.sgy    and a SEG-Y file of them, which needs the package segyio
SEG-Y counts time in whole microseconds; traces are interpolated to the next one below the run's own interval. They
begin at a whole millisecond, with zeros up to the run's first sample. Coordinates have at most four decimals.""",
    "scaling": """examples:
  fdplot scaling runs/scaling/weak                  leaves report.md, weak.png, model.png, extrapolation.png there""",
    "throughput": """examples:
  fdplot throughput runs/benchmark                  the figure of merit against the grid's size""",
    "spectrum": """examples:
  fdplot spectrum runs/quickstart                   first and last state
  fdplot spectrum runs/deformation --steps 0,200,400
  fdplot spectrum runs/turbulence --kinetic         of the velocity, solenoidal and dilatational
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


def add_fields(parser, count_help):
    group = parser.add_argument_group("what to show")
    names = "fields (default: the equation's first)"
    group.add_argument("--field", nargs="+", metavar="NAME", help=names)
    which = group.add_mutually_exclusive_group()
    which.add_argument("--steps", type=step_list, metavar="LIST", help="steps '0,100,200', or first, last, all")
    which.add_argument("--count", type=positive(int), metavar="N", help=count_help)
    return group


def add_plane(parser, axis_help):
    group = parser.add_argument_group("where to cut")
    group.add_argument("--axis", choices="xyz", metavar="x|y|z", help=axis_help)
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
    where = parser.add_argument_group("which way is up")
    where.add_argument("--depth", action="store_true", help="z downwards, as a depth")


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


def add_command(subparsers, name, summary, output=True, log=False):
    parser = subparsers.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=EXAMPLES[name],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if output:
        parser.add_argument("-o", "--output", metavar="FILE", help="where to write (default: into the run directory)")
        add_look(parser, log)
    return parser


def make_parser():
    """The whole command line."""
    parser = argparse.ArgumentParser("fdplot", description=OVERVIEW)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    slices = add_command(subparsers, "slices", "planes through the domain, several times side by side",
                         log=True)  # fmt: skip
    slices.add_argument("run", metavar="RUN_DIR")
    add_fields(slices, "number of states, spread over the run (default: 4)")
    add_plane(slices, "only planes normal to this axis (default: all three)")
    history = add_command(subparsers, "history", "mass or energy, norm, extrema and errors over time")
    history.add_argument("run", metavar="RUN_DIR")
    history.add_argument("--reference", choices=("taylor-green",),
                         help="a published solution to compare a flow with: of the Taylor-Green vortex at Reynolds "
                         "number 1600")  # fmt: skip
    watch = add_command(subparsers, "watch", "a picture that follows a run, until the run ends", log=True)
    watch.add_argument("run", metavar="RUN_DIR")
    watch.add_argument("--field", nargs="+", metavar="NAME", help="fields (default: the equation's first)")
    watch.add_argument("--every", type=positive(float), default=2.0, metavar="SECONDS",
                       help="between looks at the directory (default: 2)")  # fmt: skip
    add_plane(watch, "only the plane normal to this axis (default: all three)")
    movie = add_command(subparsers, "movie", "one plane over time, as an animated GIF or an MP4", log=True)
    movie.add_argument("run", metavar="RUN_DIR")
    add_fields(movie, "number of frames, spread over the run (default: every snapshot at the same distance)")
    add_plane(movie, "axis normal to the plane (default: z)")
    frames = "frames per second, 0.1 to 240, of a GIF at most 50 (default: 12)"
    movie.add_argument("--fps", type=positive(float, 0.1, 240), default=12, metavar="N", help=frames)
    convergence = add_command(subparsers, "convergence", "errors of several runs against the spacing")
    convergence.add_argument("runs", nargs="+", metavar="RUN_DIR", help="runs to the same time on different grids")
    convergence.add_argument("--norm", nargs="+", choices=NORMS, default=list(NORMS), help="norms (default: all three)")
    convergence.add_argument("--orders", nargs="+", type=positive(float), metavar="P",
                             help="orders of the reference slopes (default: the nearest whole one)")  # fmt: skip
    spectrum = add_command(subparsers, "spectrum", "shell-averaged power spectrum of a field")
    spectrum.add_argument("run", metavar="RUN_DIR")
    what = add_fields(spectrum, "number of states, spread over the run (default: 2, the first and the last)")
    what.add_argument("--kinetic", action="store_true",
                      help="kinetic energy of a flow instead: of the solenoidal and the dilatational part of u, v, "
                      "w")  # fmt: skip
    probes = add_command(subparsers, "probes", "time series at points, and their spectra")
    probes.add_argument("runs", nargs="+", metavar="RUN_DIR", help="a run, or several to compare")
    probes.add_argument("--field", nargs="+", metavar="NAME", help="fields (default: all)")
    probes.add_argument("--spectrum", choices=("plain", "welch"), default="plain",
                        help="plain: of the whole series; welch: the mean of eight parts (default: plain)")  # fmt: skip
    probes.add_argument("--most", type=positive(float), metavar="F", help="highest frequency shown")
    probes.add_argument("--decay", action="store_true", help="tell how fast the modes at the peaks fall")
    receivers = add_command(subparsers, "receivers", "traces of receivers, side by side and over time")
    receivers.add_argument("run", metavar="RUN_DIR")
    receivers.add_argument("--traces", nargs="+", type=int, metavar="N", help="numbers of the traces (default: six)")
    receivers.add_argument("--clip", type=positive(float), metavar="P",
                           help="magnitude at which colours end (default: that of 95 %% of the samples)")  # fmt: skip
    receivers.add_argument("--segy", metavar="FILE", help="write the traces as SEG-Y, too")
    receivers.add_argument("--interval", type=positive(int), metavar="US", help="of SEG-Y samples, in microseconds")
    receivers.add_argument("--seconds", type=positive(float), default=1.0, metavar="S",
                           help="seconds in the run's unit of time (default: 1)")  # fmt: skip
    receivers.add_argument("--metres", type=positive(float), default=1.0, metavar="M",
                           help="metres in the run's unit of length (default: 1)")  # fmt: skip
    scaling = add_command(subparsers, "scaling", "report and plots of a study made by run/scaling", False)
    scaling.add_argument("study", metavar="DIR", help="the study's directory, with results.csv")
    throughput = add_command(subparsers, "throughput", "figure of merit against the grid's size, of run/benchmark")
    throughput.add_argument("benchmark", metavar="DIR", help="the directory with benchmark.json, or that file")
    return parser


def main(arguments=None):
    """Entry point; returns the exit code."""
    os.environ["MPLBACKEND"] = "agg"  # files are written; a notebook's backend may not be there
    args = make_parser().parse_args(arguments)
    return run_command(lambda: dressed(args))


def dressed(args):
    """Run the command with the look of its options in force, from making the figure to saving the file."""
    from . import commands, style

    chosen = {name: value for name in LOOK if (value := getattr(args, name, None)) is not None}
    if len(chosen.get("size", ())) > 2:
        raise UsageError("--size takes a width, or a width and a height")
    with style.look(**chosen):
        getattr(commands, f"command_{args.command}")(args)
