"""paraview/show_run.py in ParaView itself, on what the program leaves; needs FDAPP, pvpython and xvfb-run."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

PROGRAM = os.environ.get("FDAPP")
SCRIPT = Path(__file__).parents[1] / "paraview" / "show_run.py"
TOOLS = ("pvpython", "xvfb-run")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not PROGRAM, reason="FDAPP does not name the program"),
    pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason="no ParaView here (packages paraview and xvfb)"),
]
QUIET = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
CASE = """[grid]
nx = 24
ny = 24
nz = 24
[initial]
case = gaussian
width = 0.1
center_x = 0.25
center_y = 0.5
center_z = 0.5
[velocity]
field = uniform
u = 1
[time]
dt = 0.0125
steps = 40
[compute]
backend = cpu
[output]
fields_every = 40
"""


DRIVER = """import runpy, sys
from paraview.simple import GetColorTransferFunction
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
points = GetColorTransferFunction("phi").RGBPoints
print(points[0], points[-4])
"""


def run_program(folder, *changes):
    (folder / "blob.ini").write_text(CASE)
    launcher = shlex.split(os.environ.get("MPIRUN", "mpirun"))
    words = [*launcher, "-np", "2", PROGRAM, folder / "blob.ini", f"output.directory={folder / 'run'}", *changes]
    done = subprocess.run(words, env=os.environ | QUIET, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture(scope="module")
def run_path(tmp_path_factory):
    """A blob that goes from x = 0.25 to 0.75, on 2 ranks; states of the beginning and the end."""
    return run_program(tmp_path_factory.mktemp("paraview"))


def pvpython(*words):
    return subprocess.run(["xvfb-run", "-a", "pvpython", *words], capture_output=True, text=True, check=False)


def show_run(*arguments):
    return pvpython(SCRIPT, *arguments)


def picture(run, path, *arguments):
    done = show_run(run, "-o", path, *arguments)
    assert done.returncode == 0, done.stderr
    return read_picture(path)


def read_picture(path):
    pixels = matplotlib.image.imread(path)[:, :, :3]
    assert pixels.shape == (1000, 1200, 3)
    return pixels


def column_of_surface(pixels):
    """Mean column of what has the colour of the isosurface: red far before blue."""
    _, columns = np.nonzero(pixels[:, :, 0] - pixels[:, :, 2] > 0.25)
    inside = columns[columns < 1000]  # the legend is to the right
    assert len(inside) > 2000
    return inside.mean()


def test_the_surface_goes_where_the_blob_goes(run_path, tmp_path):
    """By half of the domain to the right, which fills most of the picture's width."""
    first = column_of_surface(picture(run_path, tmp_path / "first.png", "--time", "0"))
    last = column_of_surface(picture(run_path, tmp_path / "last.png"))
    assert last - first > 200


def test_slices_outline_and_white_around(run_path, tmp_path):
    pixels = picture(run_path, tmp_path / "picture.png")
    assert np.allclose(pixels[-1, 0], 1.0)
    red, green, blue = (pixels[:, :1000, k] for k in range(3))
    assert np.count_nonzero((blue - green > 0.01) & (red - green > 0.01)) > 50000  # weak viridis on translucent slices


def test_a_long_domain_is_all_in_the_picture(tmp_path):
    run = run_program(tmp_path, "grid.nz=96", "grid.lz=4")
    pixels = picture(run, tmp_path / "picture.png")[:, 200:1000]  # without time and legend
    rows = np.flatnonzero((pixels.max(axis=2) < 0.7).any(axis=1))  # outline
    assert 5 < rows[0] < 100 and 900 < rows[-1] < 994


def test_the_legend_shows_the_range_of_the_field(tmp_path):
    """Not of the slices: those through the middle miss a blob in the corners."""
    run = run_program(tmp_path, "initial.center_x=0", "initial.center_y=0", "initial.center_z=0")
    (tmp_path / "driver.py").write_text(DRIVER)
    done = pvpython(tmp_path / "driver.py", SCRIPT, run, "--time", "0")
    assert done.returncode == 0, done.stderr
    low, high = map(float, done.stdout.split()[-2:])
    assert abs(low) < 1e-3 and high == pytest.approx(1, abs=1e-3)


def test_a_movie_has_a_picture_of_each_state_and_leaves_the_still_its_time(run_path, tmp_path):
    still = picture(run_path, tmp_path / "still.png", "--time", "0", "--movie", tmp_path / "movie.png")
    first, last = (column_of_surface(read_picture(path)) for path in sorted(tmp_path.glob("movie.*.png")))
    assert last - first > 200
    assert column_of_surface(still) == pytest.approx(first, abs=5)


def test_a_run_that_kept_parts_is_shown_from_them(tmp_path):
    run = run_program(tmp_path, "output.derived=gradient")
    assert picture(run, tmp_path / "picture.png", "--field", "gradient").min() < 0.9


FLOW = """[grid]
nx = 24
ny = 24
nz = 24
lx = 6.283185307179586
ly = 6.283185307179586
lz = 6.283185307179586
[physics]
equation = flow
[initial]
case = taylor_green_vortex
mach = 0.3
[time]
courant = 0.9
steps = 1
[compute]
backend = cpu
[output]
fields_every = 1
derived = q_criterion
"""


def test_vortices_are_coloured_by_the_speed(tmp_path):
    """Viridis up to the largest speed, which is 1, on opaque surfaces: nothing orange, as others are, or pale."""
    (tmp_path / "flow.ini").write_text(FLOW)
    words = [*shlex.split(os.environ.get("MPIRUN", "mpirun")), "-np", "2", PROGRAM, tmp_path / "flow.ini"]
    done = subprocess.run(
        [*words, f"output.directory={tmp_path / 'run'}"],
        env=os.environ | QUIET,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (tmp_path / "driver.py").write_text(DRIVER.replace('"phi"', '"speed"'))
    done = pvpython(tmp_path / "driver.py", SCRIPT, tmp_path / "run", "-o", tmp_path / "picture.png")
    assert done.returncode == 0, done.stderr
    low, high = map(float, done.stdout.split()[-2:])
    assert low == 0 and high == pytest.approx(1, abs=0.02)
    red, green, blue = (read_picture(tmp_path / "picture.png")[:, :1000, k] for k in range(3))
    assert np.count_nonzero(red - green > 0.25) < 1000  # orange; an arrow of the orientation is red
    assert np.count_nonzero(np.maximum(green, blue) - red > 0.15) > 20000


def test_slices_alone_are_no_isosurface(tmp_path):
    run = run_program(tmp_path, "output.fields_every=0", "output.slices=z=0.5")
    done = show_run(run)
    assert done.returncode == 3 and done.stderr.count("\n") == 1
    assert "output.fields_every" in done.stderr and "fdplot slices" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("{run}", "--value", "99"), 2, "--value 99 lies outside what phi is then"),
        (("{run}/nothing",), 3, "state.hdf.series: no such file"),
        (("{run}", "-o", "{run}/nothing/picture.png"), 3, "picture.png: cannot be written"),
        (("{run}", "--movie", "{run}/nothing/movie.png"), 3, "movie.png: cannot be written"),
        (("{run}", "--movie", "{run}/movie.mp4"), 2, "movie.mp4: unknown ending"),
    ],
)
def test_refusals_are_one_line(run_path, arguments, code, words):
    done = show_run(*(text.format(run=run_path) for text in arguments))
    assert done.returncode == code
    assert words in done.stderr and done.stderr.count("\n") == 1
