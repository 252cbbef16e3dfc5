"""How the pictures look: type, colours that colour-blind people can tell apart, and saving."""

import functools
import os
from contextlib import contextmanager, suppress
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from .errors import DataError, UsageError

# Okabe and Ito, "Color universal design" (2008), without its yellow, which is too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#444444")
INK, SOFT, RULE = "#1b1f24", "#5f6670", "#d5d9de"
SIGNED_SHARE = 0.15  # data reaching this far below zero, as a share of its height, is shown as signed

STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "mathtext.fontset": "dejavusans",
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.linewidth": 0.7,
    "axes.titlesize": 9.5,
    "axes.titleweight": "regular",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.prop_cycle": matplotlib.cycler(color=COLOURS),
    "axes.formatter.useoffset": False,
    "axes.unicode_minus": True,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.minor.visible": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
}


def styled(draw):
    """Run `draw` in the package's style, leaving the caller's settings of matplotlib alone."""

    @functools.wraps(draw)
    def wrapper(*args, **kwargs):
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(STYLE)
            return draw(*args, **kwargs)

    return wrapper


def heading(fig, title, subtitle="", top=0.10, left=0.12):
    """Title and subtitle at the top left; distances in inches, so that they look alike on every size of figure. The
    title is taken as it is: names of directories may have a $ in them, and bytes that are no text."""
    width, height = fig.get_size_inches()
    place = (left / width, 1 - top / height)
    title = os.fsencode(title).decode(errors="replace")
    fig.text(*place, title, fontsize=12, fontweight="bold", va="top", ha="left", parse_math=False)
    if subtitle:
        fig.text(left / width, 1 - (top + 0.24) / height, subtitle, fontsize=8.5, color=SOFT, va="top", ha="left")


def save(fig, path, dpi=200):
    """Write the figure; the ending of the name gives the format. Returns the path."""
    path = Path(path)
    formats = ("jpg", "pdf", "png", "svg", "webp")
    if path.suffix[1:] not in formats:
        raise UsageError(f"{path}: unknown picture format; use one of {', '.join(sorted(formats))}")
    with whole_file(path) as part:
        fig.savefig(part, dpi=dpi)
    return path


@contextmanager
def whole_file(path):
    """Gives a name beside `path` to write to; the file gets its own name when it is whole, or is not there at all.
    DataError if it cannot be written."""
    part = path.with_name(f".part-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        os.replace(part, path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def plain_log_axis(ax, name):
    """Make axis "x" or "y" logarithmic with plain numbers, at 1, 2, 5, 10 ... where it spans little, and at round steps
    where fewer than three of them are left."""
    getattr(ax, f"set_{name}scale")("log")
    low, high = getattr(ax, f"get_{name}lim")()
    axis = getattr(ax, f"{name}axis")
    if high / low < 60:
        ticks = [m * 10.0**k for k in range(-9, 9) for m in (1, 2, 5)]
        shown = [tick for tick in ticks if low <= tick <= high]
        if len(shown) < 3:
            shown = [tick for tick in MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high) if low <= tick <= high]
            axis.set_minor_locator(NullLocator())
        axis.set_ticks(shown)
        getattr(ax, f"set_{name}lim")(low, high)
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def colour_scale(planes, cmap=None, vmin=None, vmax=None):
    """Colour map and limits shared by `planes`: diverging about zero for signed data, sequential otherwise."""
    finite = [plane[np.isfinite(plane)] for plane in planes]
    finite = [values for values in finite if values.size]
    low = min((float(values.min()) for values in finite), default=0.0)
    high = max((float(values.max()) for values in finite), default=1.0)
    signed = low < 0 and -low > SIGNED_SHARE * max(high, 0.0)
    if signed:
        reach = max(-low, high)
        low, high = -reach, reach
    elif 0 < low < 0.05 * high:
        low = 0.0
    low, high = low if vmin is None else vmin, high if vmax is None else vmax
    if low > high:
        raise UsageError(f"--vmin {low:g} exceeds --vmax {high:g}")
    if low == high:
        low, high = low - 0.5, high + 0.5
    try:
        colours = matplotlib.colormaps[cmap or ("RdBu_r" if signed else "viridis")]
    except KeyError as error:
        raise UsageError(f"unknown colour map '{cmap}'; try viridis, cividis, magma, RdBu_r, PuOr_r") from error
    return colours.with_extremes(bad="#ff00c8"), low, high  # not-a-number has to be seen


def length_label(axis, lengths):
    """Axis label with its unit: shares of the edge where the domain is the unit cube, else the domain's own units."""
    name = "xyz"[axis]
    return f"${name}/L$" if all(abs(length - 1) < 1e-12 for length in lengths) else f"${name}$"


def field_label(field):
    """A field's name as in formulas."""
    return {"phi": r"$\varphi$"}.get(field, field)


def number(value, digits=4):
    """A number for titles: short, without a mantissa full of noise."""
    return f"{value:.{digits}g}"
