"""Shows a run in ParaView: an isosurface inside three slices, with a legend and the time. Of a flow that kept its Q
criterion (output.derived = q_criterion) it shows the vortices, coloured by the speed.

  pvpython postproc/paraview/show_run.py RUN_DIR [-o PICTURE.png] [--time T] [--value V] [--field NAME]
                                              [--movie MOVIE.png]
  (without a display: xvfb-run -a pvpython ...)
It shows the snapshots that the run kept, whole or in part (RUN_DIR/fields), else its checkpoints.
In the ParaView program: Tools > Python Shell > Run Script shows the run that the variable FDAPP_RUN names.

ParaView 5.11 or later."""

import argparse
import os
import sys

try:
    from paraview.simple import (
        AnnotateTimeFilter,
        Calculator,
        ColorBy,
        Contour,
        CreateView,
        GetActiveViewOrCreate,
        GetAnimationScene,
        GetColorTransferFunction,
        GetOpacityTransferFunction,
        GetScalarBar,
        OpenDataFile,
        Outline,
        Render,
        ResetCamera,
        SaveAnimation,
        SaveScreenshot,
        Show,
        Slice,
        UpdatePipeline,
    )
except ImportError as error:
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        sys.exit(0)
    print(f"show_run.py: {error}: run it by ParaView's own Python, pvpython", file=sys.stderr)
    sys.exit(3)

FIELDS = ("phi", "p", "q_criterion")  # shown if there is no --field: the first of these that there is
VORTICES, VELOCITY = "q_criterion", ("u", "v", "w")  # of a flow: the surface is coloured by the speed
PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp")
MOVIES = (*PICTURES, ".avi", ".ogv")
SIZE = [1200, 1000]
INK = [0.11, 0.12, 0.14]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?", default=os.environ.get("FDAPP_RUN"), metavar="RUN_DIR")
    parser.add_argument("-o", "--output", metavar="FILE", help="picture (default: RUN_DIR/paraview.png)")
    parser.add_argument("--time", type=float, help="time shown; the nearest state is taken (default: the last)")
    parser.add_argument(
        "--value",
        type=float,
        help="value of the isosurface (default: 30 %% of the way from the least to the largest; of q_criterion 5 %% of "
        "the largest)",
    )
    parser.add_argument(
        "--field",
        metavar="NAME",
        help="what is shown (default: phi or p; of a flow q_criterion, if output.derived named it: vortices, coloured "
        "by the speed)",
    )
    parser.add_argument(
        "--movie", metavar="FILE", help="all states: .avi, .ogv or pictures, FILE with a number before .png"
    )
    args = parser.parse_args()
    if not args.run:
        parser.error("RUN_DIR is missing")
    return args


def open_run(directory):
    """The reader over the snapshots that were kept, whole or in part, else over the checkpoints. Leaves with exit code
    3 if there are none."""
    whole = os.path.join(directory, "state.hdf.series")
    part = os.path.join(directory, "fields", "state.hdf.series")
    index = part if os.path.exists(part) else whole
    if not os.path.exists(index) and os.path.isdir(os.path.join(directory, "slices")):
        fail(
            3,
            f"{directory}: has slices alone, and an isosurface needs snapshots (output.fields_every or "
            "checkpoint_every); fdplot slices draws slices",
        )
    if not os.path.exists(index):
        fail(3, f"{index}: no such file")
    reader = OpenDataFile(index)
    reader.UpdatePipelineInformation()
    return reader


def fail(code, message):
    """Exit with one line on standard error and fdplot's exit codes. It exits at once, because ParaView's normal exit
    prints a dozen lines of HDF5 about open files."""
    print(f"error: {message}", file=sys.stderr, flush=True)
    os._exit(code)


def check_output(path, endings):
    """Refuse a file that cannot be written; ParaView itself says nothing of use, and only after the work."""
    folder, name = os.path.split(os.path.abspath(path))
    if not name.endswith(endings):
        fail(2, f"{path}: unknown ending; known: {', '.join(endings)}")
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        fail(3, f"{path}: cannot be written")


def choose_time(reader, wanted):
    """Time of the state nearest to `wanted`, the last one by default."""
    times = list(reader.TimestepValues) if hasattr(reader.TimestepValues, "__len__") else [reader.TimestepValues]
    if wanted is None:
        return times[-1]
    return min(times, key=lambda time: abs(time - wanted))


def choose_field(reader, wanted):
    """The field that is shown."""
    there = list(reader.PointData.keys())
    field = wanted or next((name for name in FIELDS if name in there), there[0])
    if field not in there:
        fail(2, f"--field {field}: not in the files; there are: {', '.join(there)}")
    return field


def colour_table(view, field, low, high, solid=False):
    """Colours over the field's range, viridis or diverging if it is signed; weak values are translucent, unless what is
    coloured is solid."""
    signed = low < -0.15 * high
    reach = max(-low, high)
    low, high = (-reach, reach) if signed else (low, high)
    table = GetColorTransferFunction(field)
    table.ApplyPreset("Cool to Warm" if signed else "Viridis (matplotlib)", True)
    table.AutomaticRescaleRangeMode = "Never"  # the legend holds for all pictures of a movie
    table.RescaleTransferFunction(low, high)
    table.EnableOpacityMapping = not solid
    ramp = [low, 0.9, 0.0, 0.1, high, 0.9] if signed else [low, 0.12, low + 0.5 * (high - low), 0.9, high, 0.95]
    points = zip(ramp[::2], ramp[1::2])
    GetOpacityTransferFunction(field).Points = [
        number for value, alpha in points for number in (value, alpha, 0.5, 0.0)
    ]
    bar = GetScalarBar(table, view)
    bar.Title, bar.ComponentTitle = field, ""
    bar.TitleColor = bar.LabelColor = INK
    bar.TitleFontSize, bar.LabelFontSize = 20, 16
    bar.ScalarBarThickness, bar.ScalarBarLength = 14, 0.4
    bar.RangeLabelFormat = "%-#.2g"
    bar.WindowLocation = "Any Location"
    bar.Position = [0.88, 0.3]


def centre_of(source):
    """Centre of the box around what a source shows."""
    bounds = source.GetDataInformation().GetBounds()
    return [0.5 * (bounds[2 * k] + bounds[2 * k + 1]) for k in range(3)]


def show_surface(source, view, time, field, value):
    """The isosurface, all of one colour. Returns it and its display; None for both where there is none, as where phi is
    the same everywhere."""
    surface = Contour(Input=source, ContourBy=["POINTS", field])
    surface.Isosurfaces = [value]
    UpdatePipeline(time, surface)
    if surface.GetDataInformation().GetNumberOfPoints() == 0:
        return None, None
    display = Show(surface, view)
    ColorBy(display, None)
    display.DiffuseColor = display.AmbientColor = [0.90, 0.45, 0.13]
    display.Specular, display.SpecularPower = 0.35, 30
    return surface, display


def show_cuts(reader, view, field, middle):
    """Three slices through a point, in the field's colours."""
    low, high = reader.PointData[field].GetRange(0)
    for axis in range(3):
        cut = Slice(Input=reader)
        cut.SliceType.Origin = middle
        cut.SliceType.Normal = [float(k == axis) for k in range(3)]
        display = Show(cut, view)
        ColorBy(display, ("POINTS", field))
    display.SetScalarBarVisibility(view, True)
    colour_table(view, field, low, high)  # after ColorBy(), which gives the table the range of its slice


def show_vortices(reader, view, time, value):
    """An isosurface of the Q criterion, coloured by the speed."""
    source = Calculator(Input=reader, ResultArrayName="speed", Function="sqrt(u*u + v*v + w*w)")
    UpdatePipeline(time, source)
    _, display = show_surface(source, view, time, VORTICES, value)
    if display:
        ColorBy(display, ("POINTS", "speed"))
        display.SetScalarBarVisibility(view, True)
        colour_table(view, "speed", 0.0, source.PointData["speed"].GetRange(0)[1], solid=True)


def show(reader, view, time, field, value):
    """Isosurface, with three slices through its centre or as vortices; outline, time."""
    low, high = reader.PointData[field].GetRange(0)
    if value is not None and not low <= value <= high:
        fail(2, f"--value {value:g} lies outside what {field} is then: {low:g} to {high:g}")
    if field == VORTICES and set(VELOCITY) <= set(reader.PointData.keys()):
        show_vortices(reader, view, time, 0.05 * high if value is None else value)
    else:
        surface, _ = show_surface(reader, view, time, field, low + 0.3 * (high - low) if value is None else value)
        show_cuts(reader, view, field, centre_of(surface or reader))
    frame = Show(Outline(Input=reader), view)
    frame.AmbientColor = frame.DiffuseColor = [0.4, 0.43, 0.47]
    frame.LineWidth = 1.5
    clock = Show(AnnotateTimeFilter(Input=reader, Format="t = {time:.5g}"), view)
    clock.Color, clock.FontSize = INK, 22
    clock.WindowLocation = "Upper Left Corner"


def set_view(view):
    """White background, looking down from a corner."""
    view.ViewSize = SIZE
    view.UseColorPaletteForBackground = 0
    view.Background = [1.0, 1.0, 1.0]
    view.OrientationAxesLabelColor = INK
    view.UseFXAA = 1
    view.CameraPosition, view.CameraFocalPoint, view.CameraViewUp = [1.7, -4.3, 2.3], [0.5, 0.5, 0.5], [0, 0, 1]


def main():
    args = parse_arguments()
    reader = open_run(args.run)
    inside = "paraview.servermanager" in sys.modules and sys.argv[0] == ""
    picture = args.output or os.path.join(args.run, "paraview.png")
    if not inside:
        check_output(picture, PICTURES)
    if args.movie:
        check_output(args.movie, MOVIES)
    time = choose_time(reader, args.time)
    UpdatePipeline(time, reader)
    view = GetActiveViewOrCreate("RenderView") if inside else CreateView("RenderView")
    view.ViewTime = time
    set_view(view)
    show(reader, view, time, choose_field(reader, args.field), args.value)
    ResetCamera(view)  # all of it in an angle of 30 degrees, whatever the angle was
    low_x, high_x, _, _, low_z, high_z = reader.GetDataInformation().GetBounds()
    if high_x - low_x > 1.2 * (high_z - low_z):
        view.CameraViewAngle = 34  # a domain long in x clears the legend
    scene = GetAnimationScene()
    scene.UpdateAnimationUsingDataTimeSteps()  # a movie has a picture of each state, not ten in between
    scene.AnimationTime = time
    Render(view)
    if not inside:
        SaveScreenshot(picture, view, ImageResolution=SIZE)
        print(picture)
    # at the end, because it leaves the view at the last state

    if args.movie and not SaveAnimation(args.movie, view, ImageResolution=SIZE):
        fail(3, f"{args.movie}: cannot be written")


main()
