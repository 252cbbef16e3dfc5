"""How the pictures look: type, colours that colour-blind people can tell apart, sizes, and saving."""

import functools
import os
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.colors import LogNorm, Normalize, SymLogNorm
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.textpath import TextPath
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


FONT_SIZE = STYLE["font.size"]  # the sizes and margins below are made for it, and grow with the one that is chosen
HEADING = 0.48  # inches that the heading takes


@dataclass(frozen=True)
class Look:
    """A user's choices for a picture. None leaves the choice to the picture."""

    title: str | None = None  # in place of the run's name; "" leaves out the whole heading
    size: tuple | None = None  # width, or width and height, in inches
    dpi: int | None = None
    font: str | None = None
    font_size: float = FONT_SIZE
    log: bool = False  # colours follow the logarithm of the value
    depth: bool = False  # z points downwards


DEFAULT = Look()
_look = ContextVar("look", default=DEFAULT)


@contextmanager
def look(**choices):
    """The package's style, with these members of Look, for everything from the figure to the file.

    matplotlib reads its settings when a figure is made and again when it is saved, so both have to happen inside. The
    caller's settings are neither used nor changed. UsageError for an unknown font."""
    chosen = replace(_look.get(), **choices)
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings(chosen))
        token = _look.set(chosen)
        try:
            yield
        finally:
            _look.reset(token)


def settings(chosen):
    """Settings of matplotlib for a Look."""
    scale = chosen.font_size / FONT_SIZE
    sizes = {name: scale * value for name, value in STYLE.items() if name.endswith(("font.size", "labelsize",
             "titlesize", "fontsize"))}  # fmt: skip
    if not chosen.font:
        return STYLE | sizes
    try:
        findfont(chosen.font, fallback_to_default=False)
    except ValueError as error:
        raise UsageError(f"font '{chosen.font}' is not installed; matplotlib knows it by another name, or not at all") \
            from error  # fmt: skip
    maths = {"mathtext.fontset": "custom", "mathtext.rm": chosen.font, "mathtext.bf": f"{chosen.font}:bold",
             "mathtext.it": f"{chosen.font}:italic", "mathtext.cal": chosen.font, "mathtext.sf": chosen.font,
             "mathtext.tt": chosen.font, "mathtext.bfit": f"{chosen.font}:bold:italic"}  # fmt: skip
    return STYLE | sizes | maths | {"font.sans-serif": [chosen.font, *STYLE["font.sans-serif"]]}


def styled(draw):
    """Run `draw` in the current look, or in the package's own."""

    @functools.wraps(draw)
    def wrapper(*args, **kwargs):
        with look():
            return draw(*args, **kwargs)

    return wrapper


def points(size):
    """Scale a font size or distance, given for FONT_SIZE, to the chosen font size."""
    return size * _look.get().font_size / FONT_SIZE


def headed():
    """True unless the heading is left out."""
    return _look.get().title != ""


def downwards(axis):
    """True if this vertical axis points downwards."""
    return _look.get().depth and axis == 2


def unsaid(note):
    """A sentence with what the heading would note, if the look has none."""
    return f"note: {note}" if note and not headed() else ""


def chosen_width():
    """The chosen width in inches or None, for pictures whose height follows from what they show. UsageError if a height
    is chosen, too."""
    chosen = _look.get().size
    if chosen and len(chosen) > 1:
        raise UsageError("--size takes a width alone here: planes are drawn to scale, so the height follows")
    return chosen[0] if chosen else None


def chosen_size(width, height):
    """Size of a figure in inches: as chosen, else this one, which has room for a heading. A chosen width alone keeps
    the proportions."""
    chosen = _look.get().size
    if not headed():
        height -= HEADING
    if not chosen:
        return width, height
    return chosen[0], chosen[1] if len(chosen) > 1 else height * chosen[0] / width


def edges(size, left, right, bottom, top):
    """Edges of the panels as shares of the figure, for subplots(). Given are the margins around them in inches, `top`
    with the heading. UsageError if nothing is left between them."""
    width, height = size
    left, right, bottom, top = (points(margin) for margin in (left, right, bottom, top - HEADING * (not headed())))
    found = {"left": left / width, "right": 1 - right / width, "bottom": bottom / height, "top": 1 - top / height}
    if found["right"] - found["left"] < 0.2 or found["top"] - found["bottom"] < 0.2:
        raise UsageError(f"--size {width:g} {height:.3g}: too small for this picture with its labels")
    return found


def gaps(size, place, across, up, columns=2, rows=2):
    """Gaps in inches between the panels within these edges, as subplots() wants them: in panels. UsageError if they
    leave no room for panels."""
    found = {}
    for name, gap, count, low, high, whole in (
        ("wspace", points(across), columns, "left", "right", size[0]),
        ("hspace", points(up), rows, "bottom", "top", size[1]),
    ):
        panel = ((place[high] - place[low]) * whole - (count - 1) * gap) / count
        if panel < 0.4:
            raise UsageError(f"--size {size[0]:g} {size[1]:.3g}: too small for this picture with its labels")
        found[name] = gap / panel
    return found


def heading(fig, title, subtitle="", top=0.10, left=0.12):
    """Title and subtitle at the top left, unless the look has none; distances in inches, so that they look alike on
    every size of figure, and smaller type where the figure is too narrow for them. The title is taken as it is: names
    of directories may have a $ in them, and bytes that are no text."""
    if not headed():
        return
    width, height = fig.get_size_inches()
    place = (left / width, 1 - top / height)
    title = os.fsencode(chosen_title(title)).decode(errors="replace")
    size = points(12) * min(1, (width - 2 * left) / text_inches(title.replace("$", "S"), points(12), "bold"))
    fig.text(*place, title, fontsize=size, fontweight="bold", va="top", ha="left", parse_math=False)
    if subtitle:
        place = (left / width, 1 - (top + points(0.24)) / height)
        size = points(8.5) * min(1, (width - 2 * left) / text_inches(subtitle, points(8.5)))
        fig.text(*place, subtitle, fontsize=size, color=SOFT, va="top", ha="left")


def chosen_title(title):
    """The chosen title, else this one."""
    return _look.get().title or title


def text_inches(text, size, weight="regular"):
    """Width of a line of text in inches."""
    return TextPath((0, 0), text, prop=FontProperties(size=size, weight=weight)).get_extents().width / 72 or 1e-9


def resolution(dpi):
    """Pixels per inch: as chosen, else `dpi`."""
    return _look.get().dpi or dpi


@styled
def save(fig, path, dpi=200):
    """Write the figure; the ending of the name gives the format, the look its resolution, else `dpi`. Returns the
    path."""
    path = Path(path)
    formats = ("jpg", "pdf", "png", "svg", "webp")
    if path.suffix[1:] not in formats:
        raise UsageError(f"{path}: unknown picture format; use one of {', '.join(sorted(formats))}")
    note = {"metadata": {"Description": limits(fig)}} if path.suffix == ".png" else {}
    with whole_file(path) as part:
        fig.savefig(part, dpi=resolution(dpi), **note)
    return path


def limits(fig):
    """What the panels with fields show, as text that goes into the file: limits of the axes and of the colours."""
    panels = [ax for ax in fig.axes if ax.images]
    return "; ".join(
        " ".join(f"{name} {low:.6g} to {high:.6g}" for name, (low, high) in
                 (("across", ax.get_xlim()), ("up", ax.get_ylim()), ("colours", ax.images[0].get_clim())))
        for ax in panels
    )  # fmt: skip


@contextmanager
def whole_file(path):
    """Gives a temporary name beside `path`; it is renamed to `path` when the file is complete, or removed after an
    error. DataError if it cannot be written."""
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


def is_signed(low, high):
    """True for values of both signs; less than SIGNED_SHARE below zero is an undershoot."""
    return low < 0 and -low > SIGNED_SHARE * max(high, 0.0)


def colour_scale(planes, cmap=None, vmin=None, vmax=None, signed=None):
    """Colour map and limits shared by `planes`: diverging about zero for signed data, sequential otherwise. signed:
    which of the two, as slices.signed() says for all pictures of a run; None asks the data."""
    finite = [plane[np.isfinite(plane)] for plane in planes]
    finite = [values for values in finite if values.size]
    low = min((float(values.min()) for values in finite), default=0.0)
    high = max((float(values.max()) for values in finite), default=1.0)
    if signed is None:
        signed = is_signed(low, high)
    if signed:
        reach = max(-low, high)
        low, high = -reach, reach
    elif 0 < low < 0.05 * high:
        low = 0.0
    if _look.get().log and not signed:
        low = log_floor(finite, high)
    low, high = low if vmin is None else vmin, high if vmax is None else vmax
    if low > high:
        raise UsageError(f"--vmin {low:g} exceeds --vmax {high:g}")
    if low == high and not _look.get().log:
        reach = max(0.5, 1e-6 * abs(low))  # 0.5 would be rounded away beside a large number
        low, high = low - reach, high + reach
    try:
        colours = matplotlib.colormaps[cmap or ("RdBu_r" if signed else "viridis")]
    except KeyError as error:
        raise UsageError(f"unknown colour map '{cmap}'; try viridis, cividis, magma, RdBu_r, PuOr_r") from error
    return colours.with_extremes(bad="#ff00c8"), low, high  # NaN must stand out


def beyond(planes, low, high):
    """At which ends of the colour scale values are cut off, as colorbar() calls them; less than a step of the 256
    colours does not count."""
    step = 0.0 if _look.get().log else (high - low) / 256
    below = any((plane < low - step).any() for plane in planes)
    above = any((plane > high + step).any() for plane in planes)
    return {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[below, above]


def log_floor(finite, high):
    """Lower end of a logarithmic colour scale: the least value above zero, six decades below `high` at the most."""
    if high <= 0:
        raise UsageError("--log: no value is above zero")
    least = min(float(values[values > 0].min(initial=high)) for values in finite)
    return max(least, 1e-6 * high) if least < high else high / 10


def colour_norm(low, high):
    """How values become colours: linear, or by the chosen look logarithmic, for signed data on both sides of zero."""
    if not _look.get().log:
        return Normalize(low, high)
    if low < 0:
        return SymLogNorm(1e-3 * max(-low, high), vmin=low, vmax=high)
    if low == 0:
        raise UsageError("--log: a scale of logarithms cannot begin at zero; give --vmin")
    return LogNorm(low, high, clip=True)


def length_label(axis, lengths, unit=""):
    """Axis label with its unit: that of the run; else shares of the edge where the domain is the unit cube, or the
    domain's own units."""
    name = "xyz"[axis]
    if unit:
        return with_unit(f"${name}$", unit)
    return f"${name}/L$" if all(abs(length - 1) < 1e-12 for length in lengths) else f"${name}$"


def field_label(field):
    """A field's name as in formulas; names longer than a letter are words."""
    if field.startswith("intensity_"):
        return f"$I_{field[-1]}$"
    return {"phi": r"$\varphi$"}.get(field, f"${field}$" if len(field) == 1 and field.isalpha() else field)


def with_unit(label, unit):
    """An axis label with its unit, if there is one."""
    return f"{label} / {unit}" if unit else label


def number(value, digits=4):
    """A number for titles, rounded to a few digits."""
    return f"{value:.{digits}g}"
