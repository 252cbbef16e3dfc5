"""Planes through the domain at several times, drawn to one scale of length and of colour."""

import numpy as np
from matplotlib.figure import Figure

from . import style
from .reader import AXES, plane_index

PLANE_INCHES = 1.9  # longest edge of a panel
LEFT, RIGHT, TOP, BOTTOM = 0.62, 0.95, 1.02, 0.55
GAP_X, GAP_Y = 0.22, 0.68
TIME_INCHES = 1.25  # a column is not narrower than the time above it


def in_plane(axis):
    """The two axes of a plane normal to `axis`: horizontal, vertical."""
    return [other for other in range(3) if other != axis]


def draw_plane(ax, state, plane, axis, colours, low, high):
    """One plane as a picture over the whole period, 0 to L: the first points are repeated at the far edges.

    Returns the image; close_period() prepares the data of later frames."""
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(True)
    edges, limits = [], []
    for other in in_plane(axis):
        start, h, length = state.origin[other], state.spacing[other], state.lengths[other]
        edges += [start - h / 2, start + length + h / 2]
        limits.append((start, start + length))
    image = ax.imshow(close_period(plane), origin="lower", extent=edges, cmap=colours, vmin=low, vmax=high)
    ax.set(xlim=limits[0], ylim=limits[1], aspect="equal")
    for limit, ticks in zip(limits, (ax.set_xticks, ax.set_yticks)):
        marks = np.linspace(*limit, 3 if limit[1] - limit[0] > 0.3 * max(state.lengths) else 2)
        ticks(marks, [f"{mark:.3g}" for mark in marks])
    return image


def close_period(plane):
    """The plane with its first row and column repeated at the end."""
    return np.pad(plane, ((0, 1), (0, 1)), mode="wrap")


def label_plane(ax, state, axis, horizontal=True, vertical=True):
    """Axis labels and tick labels where asked for."""
    across, up = in_plane(axis)
    if horizontal:
        ax.set_xlabel(style.length_label(across, state.lengths), labelpad=2)
    if vertical:
        ax.set_ylabel(style.length_label(up, state.lengths), labelpad=3)
    ax.tick_params(labelbottom=horizontal, labelleft=vertical)


def layout(state, cuts, count):
    """Boxes (left, bottom, width, height) in inches, [cut][time], and the figure's size.

    One time: the planes side by side. Several: a row for each plane, a column for each time. All to one scale."""
    scale = PLANE_INCHES / max(state.lengths)
    sizes = [[state.lengths[other] * scale for other in in_plane(axis)] for axis, _ in cuts]
    if count == 1:
        tallest, gap = max(size[1] for size in sizes), 0.62
        width = LEFT + sum(size[0] for size in sizes) + gap * (len(cuts) - 1) + RIGHT
        boxes, left = [], LEFT
        for across, up in sizes:
            boxes.append([(left, BOTTOM + (tallest - up) / 2, across, up)])
            left += across + gap
        return boxes, (width, TOP - 0.22 + tallest + BOTTOM)
    column = max(TIME_INCHES, *(size[0] for size in sizes))
    width = LEFT + count * column + (count - 1) * GAP_X + RIGHT
    height = TOP + sum(size[1] for size in sizes) + GAP_Y * (len(cuts) - 1) + BOTTOM
    boxes, top = [], height - TOP
    for across, up in sizes:
        boxes.append([(LEFT + j * (column + GAP_X), top - up, across, up) for j in range(count)])
        top -= up + GAP_Y
    return boxes, (width, height)


def heading_width(title, subtitle):
    """Inches that the heading needs, so that a narrow figure is widened and no text is cut off."""
    return max(0.115 * len(title), 0.068 * len(subtitle)) + 0.4


@style.styled
def draw_slices(run, states, cuts, planes, field="phi", cmap=None, vmin=None, vmax=None):
    """Figure of `cuts` [(axis, index)] at `states`; no index: the projection along the axis. Every panel has the
    same colours and the same scale. planes: what read_cuts() gave."""
    colours, low, high = style.colour_scale([plane for row in planes for plane in row], cmap, vmin, vmax)
    boxes, (width, height) = layout(states[0], cuts, len(states))
    nx, ny, nz = states[0].size
    subtitle = f"{nx} × {ny} × {nz} points"
    if len(states) == 1:
        subtitle += f",  t = {style.number(states[0].time)},  step {states[0].step}"
    width = max(width, heading_width(run.name, subtitle))
    fig = Figure(figsize=(width, height))
    style.heading(fig, run.name, subtitle)
    image = None
    for (axis, index), row, row_boxes in zip(cuts, planes, boxes):
        for j, (state, plane, (left, bottom, across, up)) in enumerate(zip(states, row, row_boxes)):
            ax = fig.add_axes((left / width, bottom / height, across / width, up / height))
            image = draw_plane(ax, state, plane, axis, colours, low, high)
            label_plane(ax, state, axis, vertical=j == 0)
            if j == 0:
                ax.set_title(cut_title(state, axis, index), fontsize=8.5, color=style.SOFT, pad=4)
            if len(states) > 1 and axis == cuts[0][0]:
                time_label(fig, ax, state, width, height)
    right = max(box[0] + box[2] for row in boxes for box in row)
    colour_bar(fig, image, field, right + 0.2, boxes, width, height)
    return fig


def read_cut(state, cut, field):
    """What a cut (axis, index) shows: a plane, or without an index the strongest values along the axis."""
    axis, index = cut
    return state.projection(axis, field) if index is None else state.plane(axis, index, field)


def read_cuts(states, cuts, field):
    """What the cuts show at the states, [cut][state]."""
    return [[read_cut(state, cut, field) for state in states] for cut in cuts]


def cut_title(state, axis, index):
    """Where a plane lies, in the units of the axis."""
    if index is None:
        return f"strongest along ${AXES[axis]}$"
    return f"${AXES[axis]} = {style.number(state.origin[axis] + index * state.spacing[axis])}$"


def time_label(fig, ax, state, width, height):
    """Time and step above a column."""
    box = ax.get_position()
    label = f"t = {style.number(state.time)}"
    fig.text(box.x0, box.y1 + 0.25 / height, label, fontsize=9.5, fontweight="bold", va="bottom")
    right = max(box.x1, box.x0 + TIME_INCHES / width)
    fig.text(right, box.y1 + 0.25 / height, f"step {state.step}", fontsize=8, color=style.SOFT, va="bottom", ha="right")


def colour_bar(fig, image, field, left, boxes, width, height):
    """One colour bar for all panels, as tall as the panels but never a skyscraper."""
    bottom = min(box[1] for row in boxes for box in row)
    top = max(box[1] + box[3] for row in boxes for box in row)
    tall = min(top - bottom, 3.4)
    ax = fig.add_axes((left / width, ((top + bottom - tall) / 2) / height, 0.11 / width, tall / height))
    bar = fig.colorbar(image, cax=ax)
    bar.outline.set_visible(False)
    ax.grid(False)
    ax.tick_params(length=2.5)
    ax.set_title(style.field_label(field), loc="center", fontsize=10, pad=6)


def missed(run, states, cuts, field, planes):
    """A sentence if `planes`, the cuts at these states, reach less than half of what phi is there by diagnostics.csv;
    else None."""
    if field != "phi" or any(index is None for _, index in cuts) or not run.diagnosed:
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
    return (
        f"note: phi goes from {least:.3g} to {most:.3g}, in these planes only from {low:.3g} to {high:.3g};"
        " --project, or --axis with --position, may show more"
    )


def choose_cuts(state, axes=None, index=None, position=None, project=False):
    """Planes asked for: [(axis, index)]; without any wish the three mid-planes, seen along z, y and x."""
    chosen = [AXES.index(axis) for axis in axes] if axes else [2, 1, 0]
    if project:
        return [(axis, None) for axis in chosen]
    return [(axis, plane_index(state, axis, index, position)) for axis in chosen]
