"""Planes through the domain at several times, drawn to one scale of length and of colour."""

import numpy as np
from matplotlib.figure import Figure

from . import style
from .errors import UsageError
from .frames import AXES, Planes, State, plane_index

PLANE_INCHES = 1.9  # longest edge of a panel
THIN, THIN_DRAWN = 1 / 8, 1 / 5  # an edge shorter than THIN of the longest is drawn as THIN_DRAWN of it
LEFT, RIGHT, TOP, BOTTOM = 0.62, 0.95, 1.02, 0.55
GAP_X, GAP_Y = 0.22, 0.68
LABEL_UP = 0.36  # inches beside the numbers of the vertical axis: its label, and what keeps them apart
BAR_AWAY, BAR_END = 0.2, 0.1  # inches before a colour bar, and behind its label
PANEL_LEAST = 0.3  # inches that the shortest edge of a panel keeps at any chosen width
BAR_LEAST = 0.6  # inches that a colour bar has at least


def in_plane(axis):
    """The two axes of a plane normal to `axis`: horizontal, vertical."""
    return [other for other in range(3) if other != axis]


def draw_plane(ax, state, plane, axis, colours, low, high):
    """One plane as a picture over the whole period, 0 to L: the first points are repeated at the far edges.

    Returns the image; close_period() prepares the data of later frames. The picture fills the panel's box."""
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(True)
    edges, limits = [], []
    for other, n in zip(in_plane(axis), plane.shape[::-1]):
        start, h, length = state.origin[other], state.spacing[other], state.lengths[other]
        edges += [start - h / 2, start + n * h + h / 2]
        limits.append((start, start + length))
    norm = style.colour_norm(low, high)
    image = ax.imshow(close_period(plane), origin="lower", extent=edges, cmap=colours, norm=norm, aspect="auto")
    ax.set(xlim=limits[0], ylim=limits[1])  # the box itself has the right proportions
    if style.downwards(in_plane(axis)[1]):
        ax.invert_yaxis()
    inches = ax.get_position(original=True).size * ax.figure.get_size_inches()
    for limit, length, axis_ticks in zip(limits, inches, (ax.xaxis, ax.yaxis)):
        set_marks(axis_ticks, limit, length, axis_ticks is ax.xaxis)
    return image


def set_marks(axis, limits, inches, level):
    """Ticks at both ends of an axis and, if there is room, in its middle. level: labels lie side by side. The
    outer ones then lie inside the panel, if there is room, so that neighbouring panels keep apart."""
    marks, labels = np.linspace(*limits, 3), mark_labels(limits)
    first, middle, last = (style.text_inches(label, style.points(8)) + style.points(0.06) for label in labels)
    few = inches < style.points(0.55) or (level and max(first, last) + middle / 2 > inches / 2)
    axis.set_ticks(marks[:: 1 + few], labels[:: 1 + few])
    if level and first + last < inches:
        left, *_, right = axis.get_ticklabels()
        left.set_horizontalalignment("left")
        right.set_horizontalalignment("right")


def mark_labels(limits):
    """The numbers at both ends of an axis and in its middle."""
    return [f"{mark:.0f}" if 1000 <= abs(mark) < 1e5 else f"{mark:.3g}" for mark in np.linspace(*limits, 3)]


def left_margin(state, cuts, least=LEFT):
    """Inches left of a panel: for the numbers of its vertical axis and the axis' label."""
    ups = {in_plane(axis)[1] for axis, _ in cuts}
    limits = [(state.origin[up], state.origin[up] + state.lengths[up]) for up in ups]
    widest = max(style.text_inches(label, style.points(8)) for pair in limits for label in mark_labels(pair))
    return max(style.points(least), widest + style.points(LABEL_UP))


def right_margin(labels):
    """Inches right of the panels: for colour bars, their numbers, and their labels, which may be longer."""
    longest = max(style.text_inches(label, style.points(10)) for label in labels)
    return max(style.points(RIGHT), BAR_AWAY + longest + style.points(BAR_END))


def close_period(plane):
    """The plane with its first row and column repeated at the end."""
    return np.pad(plane, ((0, 1), (0, 1)), mode="wrap")


def label_plane(ax, state, axis, horizontal=True, vertical=True):
    """Axis labels and tick labels where asked for."""
    across, up = in_plane(axis)
    if horizontal:
        ax.set_xlabel(style.length_label(across, state.lengths, state.unit("length")), labelpad=2)
    if vertical:
        ax.set_ylabel(style.length_label(up, state.lengths, state.unit("length")), labelpad=3)
    ax.tick_params(labelbottom=horizontal, labelleft=vertical)


def axis_inches(lengths, cuts, longest):
    """Inches in which the axes of the cuts are drawn, by axis; `longest` for the longest one. All to one scale, but for
    axes that would be lines at that scale: those are stretched."""
    shown = {other: lengths[other] for axis, _ in cuts for other in in_plane(axis)}
    shares = {other: length / max(shown.values()) for other, length in shown.items()}
    return {other: longest * (THIN_DRAWN if share < THIN else share) for other, share in shares.items()}


def stretched(lengths, cuts):
    """A note on the axes that are not drawn to scale; "" if there is none."""
    drawn = axis_inches(lengths, cuts, 1.0)
    longest = max(lengths[axis] for axis in drawn)
    words = [
        f"{AXES[axis]} drawn {style.number(drawn[axis] * longest / lengths[axis], 3)} times as long"
        for axis in sorted(drawn)
        if drawn[axis] * longest > lengths[axis] * (1 + 1e-12)
    ]
    return ", ".join(words)


def time_text(state):
    return f"t = {style.number(state.time)} {state.unit('time')}".rstrip()


def sampled(state):
    """Of which samples a file of statistics has the means; "" for a snapshot."""
    if "samples" not in state.attributes:
        return ""
    start = float(state.config.get("statistics", {}).get("from", 0))
    end = style.number(state.attributes.get("samples_time", state.time))
    return f"{state.attributes['samples']} samples, t = {style.number(start)} to {end} {state.unit('time')}".rstrip()


def time_inches(states):
    """Width of the longest text above a column: the time, and the step unless the picture has no heading."""
    time = style.text_inches(max(map(time_text, states), key=len), style.points(9.5), "bold")
    step = style.text_inches(f"step {max(state.step for state in states)}", style.points(8))
    return time + (style.points(0.1) + step) * style.headed()


def layout(states, cuts, labels, longest=PLANE_INCHES):
    """Boxes (left, bottom, width, height) in inches, [field][cut][time], and the figure's size. labels: of the colour
    bars, one for each field.

    One time: the planes side by side. Several: a row for each plane, a column for each time. Fields one above the
    other."""
    top, bottom, gap_x, gap_y = map(style.points, (TOP, BOTTOM, GAP_X, GAP_Y))
    left_most, right, fields = left_margin(states[0], cuts), right_margin(labels), len(labels)
    top -= style.points(style.HEADING) * (not style.headed())
    inches, count = axis_inches(states[0].lengths, cuts, longest), len(states)
    sizes = [[inches[other] for other in in_plane(axis)] for axis, _ in cuts]
    if count == 1:
        top -= style.points(0.22)
        tall = max(BAR_LEAST, *(size[1] for size in sizes))
        width = left_most * len(cuts) + sum(size[0] for size in sizes) + right
    else:
        tall = max(BAR_LEAST, sum(size[1] for size in sizes) + gap_y * (len(cuts) - 1))
        column = max(time_inches(states), *(size[0] for size in sizes))
        width = left_most + count * column + (count - 1) * gap_x + right
    height = top + fields * tall + (fields - 1) * gap_y + bottom
    found = []
    for field in range(fields):
        boxes, left, ceiling = [], left_most, height - top - field * (tall + gap_y)
        for across, up in sizes:
            if count == 1:
                boxes.append([(left, ceiling - (tall + up) / 2, across, up)])
                left += across + left_most
            else:
                boxes.append([(left + j * (column + gap_x), ceiling - up, across, up) for j in range(count)])
                ceiling -= up + gap_y
        found.append(boxes)
    return found, (width, height)


def fitted_layout(states, cuts, labels):
    """layout() of the chosen width: by the longest edge that a panel may have. UsageError if there is no room."""
    wanted = style.chosen_width()
    if not wanted:
        return layout(states, cuts, labels)
    low, high = PANEL_LEAST / min(axis_inches(states[0].lengths, cuts, 1.0).values()), 2 * wanted
    if wanted < layout(states, cuts, labels, low)[1][0]:
        fewer = "show fewer times (--count) or planes (--axis), or take a smaller --font-size"
        raise UsageError(f"--size {wanted:g}: too narrow for these planes; {fewer}")
    for _ in range(40):
        middle = (low + high) / 2
        found = layout(states, cuts, labels, middle)
        low, high = (middle, high) if found[1][0] < wanted else (low, middle)
    return found[0], (wanted, found[1][1])


def points_shown(frame):
    """The numbers of points, and of how many if the snapshot was kept in part."""
    text = " × ".join(str(n) for n in frame.size if n > 1)
    if isinstance(frame, State) and frame.part and frame.grid and frame.grid != frame.size:
        text += " of " + " × ".join(map(str, frame.grid))
    return f"{text} points"


def heading_width(title, subtitle):
    """Inches that the heading needs, so that a narrow figure is widened and no text is cut off."""
    title = style.chosen_title(title)
    return style.points(max(0.115 * len(title), 0.068 * len(subtitle)) + 0.4) if style.headed() else 0.0


@style.styled
def draw_slices(run, states, cuts, shown, cmap=None, vmin=None, vmax=None):
    """Figure of `cuts` [(axis, index)] at `states`; no index: the projection along the axis. shown: {field: what
    read_cuts() gave}. All panels have the same scale of length, and those of one field the same colours."""
    labels = [bar_label(states[0], field) for field in shown]
    blocks, (width, height) = fitted_layout(states, cuts, labels)
    subtitle = points_shown(states[0])
    if len(states) == 1 and states[0].time is not None:
        subtitle += f",  {sampled(states[0]) or time_text(states[0])},  step {states[0].step}"
    subtitle = ";  ".join(filter(None, (subtitle, stretched(states[0].lengths, cuts))))
    if not style.chosen_width():
        width = max(width, heading_width(run.name, subtitle))
    fig = Figure(figsize=(width, height))
    style.heading(fig, run.name, subtitle)
    column = time_inches(states) if len(states) > 1 else 0.0
    for number, ((field, planes), boxes) in enumerate(zip(shown.items(), blocks)):
        every = [plane for row in planes for plane in row]
        colours, low, high = style.colour_scale(every, cmap, vmin, vmax, signed(run, field))
        for i, ((axis, index), row, row_boxes) in enumerate(zip(cuts, planes, boxes)):
            for j, (state, plane, (left, bottom, across, up)) in enumerate(zip(states, row, row_boxes)):
                ax = fig.add_axes((left / width, bottom / height, across / width, up / height))
                image = draw_plane(ax, state, plane, axis, colours, low, high)
                label_plane(ax, state, axis, vertical=j == 0)
                if j == 0:
                    title = cut_title(state, axis, index)
                    ax.set_title(title, fontsize=style.points(8.5), color=style.SOFT, pad=4)
                if len(states) > 1 and number == i == 0:
                    time_label(fig, ax, state, column / width, height)
        right = max(box[0] + box[2] for row in boxes for box in row)
        beyond = style.beyond(every, low, high)
        colour_bar(fig, image, labels[number], right + BAR_AWAY, boxes, width, height, beyond)
    return fig


def read_cut(state, cut, field):
    """The values of a cut (axis, index) in double precision: a plane, or without an index the values of largest
    magnitude along the axis."""
    axis, index = cut
    plane = state.projection(axis, field) if index is None else state.plane(axis, index, field)
    return np.asarray(plane, dtype=float)


def read_cuts(states, cuts, field):
    """The values of the cuts at the states, [cut][state]."""
    return [[read_cut(state, cut, field) for state in states] for cut in cuts]


def cut_title(state, axis, index):
    """The position of a plane, in the units of the axis."""
    if index is None:
        return f"strongest along ${AXES[axis]}$"
    place = f"${AXES[axis]} = {style.number(state.origin[axis] + index * state.spacing[axis])}$"
    return f"{place} {state.unit('length')}".rstrip()


def time_label(fig, ax, state, least, height):
    """Time above a column of at least this share of the figure's width, and the step unless the picture has no
    heading."""
    box = ax.get_position()
    above = box.y1 + style.points(0.25) / height
    fig.text(box.x0, above, time_text(state), fontsize=style.points(9.5), fontweight="bold", va="bottom")
    if not style.headed():
        return
    right = max(box.x1, box.x0 + least)
    fig.text(right, above, f"step {state.step}", fontsize=style.points(8), color=style.SOFT, va="bottom", ha="right")


def colour_bar(fig, image, label, left, boxes, width, height, extend):
    """One colour bar for all panels of a field, as tall as they are, within limits. extend: the ends, as of
    style.beyond(), that get a tip because values go further."""
    bottom = min(box[1] for row in boxes for box in row)
    top = max(box[1] + box[3] for row in boxes for box in row)
    tall = max(min(top - bottom, 3.4), BAR_LEAST)
    ax = fig.add_axes((left / width, ((top + bottom - tall) / 2) / height, 0.11 / width, tall / height))
    bar = fig.colorbar(image, cax=ax, extend=extend, extendfrac=0.06)
    bar.outline.set_visible(False)
    ax.grid(False)
    ax.tick_params(length=2.5)
    place = "center" if label[0] == label[-1] == "$" else "left"  # words begin at the bar, clear of panels
    ax.set_title(label, loc=place, fontsize=style.points(10), pad=6)


def bar_label(state, field):
    """A field's name with its unit."""
    return style.with_unit(style.field_label(field), state.unit(field))


def signed(run, field):
    """Whether all pictures of a field show it about zero: True for waves and velocities; for the field that is advected
    by its start, so that a later undershoot does not count; None: the data decide."""
    equation = run.config.get("physics", {}).get("equation", "advection")
    if equation in ("acoustics", "wave") or field in ("u", "v", "w"):
        return True
    if equation != "advection" or field != run.field or not run.diagnosed:
        return None
    table = run.diagnostics
    low, high = (table[name][0] if name in table else 0.0 for name in ("min", "max"))
    return style.is_signed(low, high) if high > low else None


def missed(run, states, cuts, field, planes):
    """A sentence if `planes`, the cuts at these states, reach less than half of the range of the field by
    diagnostics.csv, which is about the run's first field; else None."""
    if field != run.field or any(index is None for _, index in cuts) or not run.diagnosed:
        return None
    table = run.diagnostics
    if not {"step", "min", "max"} <= table.keys():
        return None
    rows = [row for row, step in enumerate(table["step"]) if step in {state.step for state in states}]
    if not rows:
        return None
    finite = [plane[np.isfinite(plane)] for row in planes for plane in row]
    if not any(values.size for values in finite):
        return None
    low = min(values.min() for values in finite if values.size)
    high = max(values.max() for values in finite if values.size)
    least, most = table["min"][rows].min(), table["max"][rows].max()
    if not high - low < 0.5 * (most - least):
        return None
    more = "" if isinstance(states[0], Planes) else "; --project, or --axis with --position, may show more"
    return f"note: {field} goes from {least:.3g} to {most:.3g}, in these planes only from {low:.3g} to {high:.3g}{more}"


def choose_cuts(state, axes=None, index=None, position=None, project=False):
    """The requested planes as [(axis, index)]; by default the three mid-planes, normal to z, y and x, or all that there
    are if these are slices. UsageError for slices that are not there."""
    chosen = [AXES.index(axis) for axis in axes] if axes else [2, 1, 0]
    if isinstance(state, Planes):
        return choose_slices(state, chosen, index, position, project)
    if project:
        return [(axis, None) for axis in chosen]
    return [(axis, plane_index(state, axis, index, position)) for axis in chosen]


def choose_slices(planes, axes, index, position, project):
    """Those of the slices that are asked for. UsageError if they are not there."""
    middle = index is None and position is None
    found = [cut for cut in planes.cuts if cut[0] in axes]
    found = found if middle else [(axis, i) for axis, i in found if i == plane_index(planes, axis, index, position)]
    if not found or project:
        there = ", ".join(cut_title(planes, *cut).replace("$", "") for cut in planes.cuts)
        raise UsageError(f"{planes.path}: of this step there are slices alone: {there}")
    return found
