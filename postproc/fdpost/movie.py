"""A slice over time, as an animated GIF (pillow) or an MP4 (where ffmpeg is installed)."""

import math
import shutil
from itertools import pairwise
from pathlib import Path

from matplotlib import animation
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from . import slices, style
from .errors import DataError, UsageError
from .frames import AXES, Planes

DPI = 130


def movie_writer(path, fps):
    """matplotlib's writer for the ending of `path`. UsageError for an unknown one, DataError without ffmpeg."""
    ending = Path(path).suffix.lower()
    if ending == ".gif":
        if fps > 50:  # delays are hundredths of a second, and viewers take less than two for ten
            raise UsageError(f"{path}: a GIF has at most 50 frames per second; a name ending in .mp4 may have more")
        return animation.PillowWriter(fps=fps)
    if ending == ".mp4":
        if not shutil.which("ffmpeg"):
            raise DataError(f"{path}: MP4 needs ffmpeg, which is not installed; use a name ending in .gif")
        even = ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"]
        return animation.FFMpegWriter(fps=fps, codec="libx264", extra_args=even)
    raise UsageError(f"{path}: a movie's name ends in .gif or .mp4")


def axis(frame, wanted):
    """The axis normal to the plane that is shown: as asked for, else z, or that of the first of the slices."""
    return wanted or (AXES[frame.cuts[0][0]] if isinstance(frame, Planes) else "z")


@style.styled
def draw_frame(run, state, cut, field, planes, scale):
    """First frame of `planes`: the figure and what changes from frame to frame (image, clock, progress)."""
    axis, index = cut
    bottom, top, label = style.points(0.6), style.points(0.85), slices.bar_label(state, field)
    left, right = slices.left_margin(state, [cut], 0.7), slices.right_margin([label])
    top -= style.points(0.26) * (not style.headed())
    longest = (style.chosen_width() or 4.2 + left + right) - left - right
    if longest < 1:
        raise UsageError(f"--size: a movie is at least {left + right + 1:.3g} inches wide")
    inches = slices.axis_inches(state.lengths, [cut], longest)
    across, up = (inches[other] for other in slices.in_plane(axis))
    width, height = left + across + right, bottom + up + top
    place = ";  ".join(filter(None, (slices.cut_title(state, axis, index), slices.stretched(state.lengths, [cut]))))
    if not style.chosen_width():
        width = max(width, slices.heading_width(run.name, f"{place}                    "))
    fig = Figure(figsize=(width, height))
    ax = fig.add_axes((left / width, bottom / height, across / width, up / height))
    image = slices.draw_plane(ax, state, planes[0], axis, *scale)
    slices.label_plane(ax, state, axis)
    style.heading(fig, run.name)
    line = (bottom + up + style.points(0.49)) / height
    fig.text(0.12 / width, line, place, fontsize=style.points(8.5), color=style.SOFT, va="top")
    box = [[(left, bottom, across, up)]]
    beyond = style.beyond(planes, *scale[1:])
    slices.colour_bar(fig, image, label, left + across + slices.BAR_AWAY, box, width, height, beyond)
    edge = (left + across) / width
    clock = fig.text(edge, line, "", fontsize=style.points(10), fontweight="bold", va="top", ha="right")
    track = fig.add_axes((left / width, (bottom + up + 0.07) / height, across / width, 0.025 / height))
    track.set(xlim=(0, 1), ylim=(0, 1))
    track.set_axis_off()
    track.add_patch(Rectangle((0, 0), 1, 1, color=style.RULE, lw=0))
    bar = track.add_patch(Rectangle((0, 0), 0, 1, color=style.COLOURS[0], lw=0))
    return fig, image, clock, bar


def even_frames(states, stride=0):
    """The states that are equally far apart in time, and those left out, such as a checkpoint between two snapshots or
    a shortened last step: shown at a constant rate, they would make time jump. stride: steps between snapshots
    (output.fields_every) or 0 if unknown; then it is the commonest distance."""
    gaps = [after.step - before.step for before, after in pairwise(states)]
    if not gaps:
        return states, []
    stride = stride or max(set(gaps), key=lambda gap: (gaps.count(gap), -gap))
    phases = [state.step % stride for state in states]
    phase = max(set(phases), key=lambda own: (phases.count(own), -own))
    even = [state for state, own in zip(states, phases) if own == phase]
    out = [state for state, own in zip(states, phases) if own != phase]
    return (even, out) if len(even) > 1 else (states, [])


@style.styled
def make_movie(run, states, cut, planes, path, writer, field, scale, progress=None):
    """Write the movie of `planes`, the cut (axis, index) through each of the states; `writer`: of movie_writer(path);
    `scale`: colour map, low, high. Returns the path."""
    fig, image, clock, bar = draw_frame(run, states[0], cut, field, planes, scale)
    first, last = states[0].time, states[-1].time
    decimals = max(4, 3 - math.floor(math.log10(last - first))) if last > first else 4
    with style.whole_file(path) as part, writer.saving(fig, str(part), style.resolution(DPI)):
        for number, (state, plane) in enumerate(zip(states, planes), start=1):
            image.set_data(slices.close_period(plane))
            clock.set_text(f"t = {state.time:.{decimals}f} {state.unit('time')}".rstrip())
            bar.set_width((state.time - first) / (last - first) if last > first else 1.0)
            writer.grab_frame()
            if progress:
                progress(number, len(states))
    return path
