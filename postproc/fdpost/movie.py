"""A slice over time, as an animated GIF (pillow) or an MP4 (where ffmpeg is installed)."""

import math
import shutil
from pathlib import Path

from matplotlib import animation
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from . import slices, style
from .errors import DataError, UsageError

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


@style.styled
def draw_frame(run, state, cut, field, plane, scale):
    """First frame: the figure and what changes from frame to frame (image, clock, progress)."""
    axis, index = cut
    across, up = (state.lengths[other] for other in slices.in_plane(axis))
    inches = 4.2 / max(across, up)
    across, up = across * inches, up * inches
    width = max(0.7 + across + 0.95, slices.heading_width(run.name, " " * 40))
    height = 0.85 + up + 0.6
    fig = Figure(figsize=(width, height))
    ax = fig.add_axes((0.7 / width, 0.6 / height, across / width, up / height))
    image = slices.draw_plane(ax, state, plane, axis, *scale)
    slices.label_plane(ax, state, axis)
    style.heading(fig, run.name)
    fig.text(
        0.12 / width, 1 - 0.36 / height, slices.cut_title(state, axis, index), fontsize=8.5, color=style.SOFT, va="top"
    )
    box = [[(0.7, 0.6, across, up)]]
    slices.colour_bar(fig, image, field, 0.7 + across + 0.18, box, width, height)
    clock = fig.text(
        (0.7 + across) / width, 1 - 0.36 / height, "", fontsize=10, fontweight="bold", va="top", ha="right"
    )
    track = fig.add_axes((0.7 / width, (0.6 + up + 0.07) / height, across / width, 0.025 / height))
    track.set(xlim=(0, 1), ylim=(0, 1))
    track.set_axis_off()
    track.add_patch(Rectangle((0, 0), 1, 1, color=style.RULE, lw=0))
    bar = track.add_patch(Rectangle((0, 0), 0, 1, color=style.COLOURS[0], lw=0))
    return fig, image, clock, bar


def make_movie(run, states, cut, planes, path, writer, field, scale, progress=None):
    """Write the movie of `planes`, the cut (axis, index) through each of the states; `writer`: of movie_writer(path);
    `scale`: colour map, low, high. Returns the path."""
    fig, image, clock, bar = draw_frame(run, states[0], cut, field, planes[0], scale)
    first, last = states[0].time, states[-1].time
    decimals = max(4, 3 - math.floor(math.log10(last - first))) if last > first else 4
    with style.whole_file(path) as part, writer.saving(fig, str(part), DPI):
        for number, (state, plane) in enumerate(zip(states, planes), start=1):
            image.set_data(slices.close_period(plane))
            clock.set_text(f"t = {state.time:.{decimals}f}")
            bar.set_width((state.time - first) / (last - first) if last > first else 1.0)
            writer.grab_frame()
            if progress:
                progress(number, len(states))
    return path
