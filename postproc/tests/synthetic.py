"""Run directories and machines with known contents: independent of the program and of the package."""

import json
from typing import NamedTuple

import h5py
import numpy as np

LENGTHS = (1.0, 1.0, 1.0)


def write_state(path, phi, time, step, lengths=LENGTHS, dt=0.01):
    """A state as src/snapshots/checkpoint.h describes it, user block included. phi: (nz, ny, nx)."""
    nz, ny, nx = phi.shape
    with h5py.File(path, "w", userblock_size=2048) as file:
        image = file.create_group("VTKHDF")
        image.attrs["Version"] = np.array([1, 0], dtype="i4")
        image.attrs.create("Type", np.bytes_(b"ImageData"), dtype="S9")
        image.attrs["WholeExtent"] = np.array([0, nx - 1, 0, ny - 1, 0, nz - 1], dtype="i4")
        image.attrs["Origin"] = np.zeros(3)
        image.attrs["Spacing"] = np.array([length / n for length, n in zip(lengths, (nx, ny, nz))])
        image.attrs["Direction"] = np.eye(3).ravel()
        image.create_dataset("PointData/phi", data=phi)
        restart = file.create_group("fdapp")
        restart.attrs["step"] = np.int64(step)
        restart.attrs["time"] = np.float64(time)
        restart.attrs["dt"] = np.float64(dt)
    with open(path, "r+b") as file:
        file.write(b"fdapp-state 1\n")


def pulse(shape, time, lengths=LENGTHS, width=0.12, velocity=(1.0, 0.5, 0.25)):
    """A periodic Gaussian at `time`; (nz, ny, nx)."""
    total = 1.0
    for axis in range(3):
        n, length = shape[2 - axis], lengths[axis]
        x = np.arange(n) * length / n
        d = (x - 0.5 * length - velocity[axis] * time + 0.5 * length) % length - 0.5 * length
        one = np.exp(-0.5 * (d / width) ** 2)
        total = total * one.reshape([-1 if axis == 2 - k else 1 for k in range(3)])
    return total


def mark(path, **about):
    """Changes what a state file says of itself: attributes of the group /fdapp. Text becomes bytes, as fdapp writes."""
    with h5py.File(path, "r+") as file:
        for name, value in about.items():
            file["fdapp"].attrs[name] = np.bytes_(value.encode()) if isinstance(value, str) else value


def write_kept(path, phi, time, step, config, every=1, box=None, single=False, **derived):
    """A snapshot kept in part, as docs/reference/files.md describes it. config: of the run; phi, derived: all points;
    box: slices along z, y, x."""
    key = tuple(slice(part.start, part.stop, every) for part in box or (slice(0, None),) * 3)
    spacing = [1 / n for n in phi.shape[::-1]]
    kind = "f4" if single else "f8"
    fields = {name: values[key].astype(kind) for name, values in ({"phi": phi} | derived).items()}
    write_state(path, fields["phi"], time, step)
    with h5py.File(path, "r+") as file:
        file["VTKHDF"].attrs["Origin"] = np.array([part.start * h for part, h in zip(key[::-1], spacing)])
        file["VTKHDF"].attrs["Spacing"] = np.array(spacing) * every
        for name in derived:
            file[f"VTKHDF/PointData/{name}"] = fields[name]
    mark(path, part=1, picture=1, config=config, fields=" ".join(fields))


def write_part_run(path, shape=(12, 8, 16), kept=(0, 10, 20), checkpoints=(15, 25), every=1, **how):
    """A run that keeps its snapshots in fields/, with their gradient, beside checkpoints of all points."""
    write_run(path, shape, checkpoints, make=pulse)
    for step in checkpoints:
        mark(path / f"state_{step:08d}.hdf", picture=0)
    config = (path / "config.ini").read_text() + f"[output]\nfields_every = 10\nfields_stride = {every}\n"
    (path / "config.ini").write_text(config)
    (path / "fields").mkdir()
    for step in kept:
        phi = pulse(shape, step / 100)
        file = path / f"fields/state_{step:08d}.hdf"
        write_kept(file, phi, step / 100, step, config, every, gradient=phi**2, **how)
    files = [{"name": f"state_{step:08d}.hdf", "time": step / 100} for step in kept]
    (path / "fields/state.hdf.series").write_text(json.dumps({"files": files}))
    return path


def write_slice(run, axis, index, step, size=(24, 16, 20), **fields):
    """A slice as docs/reference/files.md describes it, of a grid of `size` points, with the run's index of it."""
    name = f"{'xyz'[axis]}_{index}"
    (run / "slices").mkdir(exist_ok=True)
    path = run / f"slices/{name}_{step:08d}.hdf"
    with h5py.File(path, "w") as file:
        image = file.create_group("VTKHDF")
        image.attrs["WholeExtent"] = [end for d in range(3) for end in (0, (size[d] - 1) * (d != axis))]
        image.attrs["Spacing"] = [1 / n for n in size]
        image.attrs["Origin"] = [index / size[axis] if d == axis else 0.0 for d in range(3)]
        for field, values in fields.items():
            image.create_dataset(f"PointData/{field}", data=values)
        about = file.create_group("fdapp").attrs
        about["axis"], about["index"], about["step"], about["time"] = axis, index, step, step / 100
        about["fields"] = np.bytes_(" ".join(fields).encode())
    files = [{"name": file.name, "time": 0.0} for file in sorted((run / "slices").glob(f"{name}_*.hdf"))]
    (run / f"slices/{name}.hdf.series").write_text(json.dumps({"files": files}))
    return path


def write_run(path, shape=(20, 16, 24), steps=(0, 10, 20, 30, 40), dt=0.01, lengths=LENGTHS, make=pulse, errors=True):
    """A whole run directory. Returns its path."""
    path.mkdir(parents=True, exist_ok=True)
    nz, ny, nx = shape
    for step in steps:
        write_state(path / f"state_{step:08d}.hdf", make(shape, step * dt, lengths), step * dt, step, lengths, dt)
    files = [{"name": f"state_{step:08d}.hdf", "time": step * dt} for step in steps]
    (path / "state.hdf.series").write_text(json.dumps({"file-series-version": "1.0", "files": files}))
    (path / "config.ini").write_text(
        f"[grid]\nnx = {nx}\nny = {ny}\nnz = {nz}\nlx = {lengths[0]}\nly = {lengths[1]}\nlz = {lengths[2]}\n"
    )
    header = "step,time,dt,mass,l2,min,max,courant" + (",err_l1,err_l2,err_linf" if errors else "")
    rows = [header]
    for step in range(max(steps, default=0) + 1):
        s = step * dt
        row = [step, s, dt, 0.027 * (1 + 3e-16 * (step % 7)), 0.1 * (1 - 1e-6 * s), -1e-4 * s, 1 - 3e-3 * s, 0.5]
        row += [2e-5 * s, 4e-5 * s, 3e-4 * s] if errors else []
        rows.append(",".join(f"{value:.17g}" for value in row))
    (path / "diagnostics.csv").write_text("\n".join(rows) + "\n")
    return path


class Stage(NamedTuple):
    """Seconds of a stage's parts. shown: what of the exchange is not hidden; total: of the stage."""

    interior: float
    edges: float
    exchange: float
    shown: float
    join: float
    total: float


def stage_seconds(nx, ny, planes, ranks, size=8, overlap=True, *, speed, launch, thin, join, latency, link, front=None,
                  words=2.75):  # fmt: skip
    """A stage of a made-up machine whose terms are known; with `front` a device, else a CPU.

    Written out from what the program does, not from fdpost.model. A range of planes reads 4 more on either side, at
    `speed` bytes per second (edges at `thin` times that). A device cuts planes of less than `front` bytes into pieces
    that run at once, and marches through larger ones part by part; it computes 4 planes at either end first, within
    its one kernel. Of the exchange what the kernel, or the CPU's interior, outlasts is hidden."""
    point = nx * ny * size
    pieces = min(front // point, planes // 8) if front and point <= front else 1
    whole = launch + (planes * words + 8 * pieces) * point / speed
    exchange = latency + 4 * point / link
    if ranks == 1:  # the range's ends are each other's neighbours
        return Stage(whole, 0.0, 0.0, 0.0, 0.0, whole)
    if not overlap:
        return Stage(whole, 0.0, exchange, exchange, 0.0, whole + exchange)
    if not front:
        edges = launch + 2 * (4 * words + 8) * point / (speed * thin)
        interior = launch + ((planes - 8) * words + 8) * point / speed if planes > 8 else 0.0
        shown = max(exchange - interior, 0.0)
        return Stage(interior, edges, exchange, shown, join, edges + interior + shown + join)
    kernel = whole + (8 * point / speed if pieces == 1 else 0.0)  # one piece: the upper end, then the rest
    others = -(-point // front) - 1  # parts of the planes that are done before the last one begins
    march = (1 if pieces > 1 else 2) * (4 * words + 8) * front / (speed * thin)
    edges = min(launch + march + kernel * others / (others + 1), kernel) if planes >= 16 else kernel
    shown = max(edges + exchange - kernel, 0.0)
    return Stage(kernel, edges, exchange, shown, join, kernel + shown + join)


def waves(shape):
    """Four fields of acoustics with values of their own; (nz, ny, nx) each."""
    z, y, x = np.meshgrid(*(2 * np.pi * np.arange(n) / n for n in shape), indexing="ij")
    return {"p": np.cos(x), "u": 2 + np.sin(y), "v": np.cos(z) * np.sin(x), "w": 3 * np.cos(y + z)}


def write_waves(path, shape=(6, 8, 10), steps=(0, 1, 2), lost=1e-6):
    """A run of sound: the unknowns p, u, v, w as src/snapshots/checkpoint.h describes several fields, with the columns
    of docs/reference/diagnostics.md. Each step loses the share `lost` of the first energy; mass of p is not kept."""
    write_run(path, shape, steps, make=lambda shape, *_: waves(shape)["p"])
    for step in steps:
        with h5py.File(path / f"state_{step:08d}.hdf", "r+") as file:
            file.move("VTKHDF/PointData/phi", "VTKHDF/PointData/p")
            for name in "wuv":
                file[f"VTKHDF/PointData/{name}"] = waves(shape)[name]
            file["fdapp"].attrs["fields"] = np.bytes_(b"p u v w")
    with open(path / "config.ini", "a") as file:
        file.write("[physics]\nequation = acoustics\n")
    rows = ["step,time,dt,energy,mass,l2,min,max,courant"]
    for step in steps:
        rows.append(f"{step},{step * 0.01},0.01,{2 * (1 - lost * step):.17g},{0.1 * (step == 0)},0.5,-1,1,0.5")
    (path / "diagnostics.csv").write_text("\n".join(rows) + "\n")
    return path
