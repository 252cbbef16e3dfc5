"""What run/scaling finds out about the machine, or the allocation, it is on."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.quick


@pytest.fixture
def scaling_host(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "run")
    import scaling_host

    return scaling_host


@pytest.mark.parametrize("name", ["SLURM_NTASKS", "PBS_NP"])
def test_places_are_those_of_the_batch_job_or_gpus_or_cores(monkeypatch, scaling_host, name):
    monkeypatch.setattr(scaling_host, "gpu_count", lambda: 8)
    monkeypatch.setattr(scaling_host.os, "sched_getaffinity", lambda _: range(12))
    monkeypatch.delenv("SLURM_NTASKS", raising=False)
    monkeypatch.delenv("PBS_NP", raising=False)
    monkeypatch.delenv("PBS_NODEFILE", raising=False)
    assert (scaling_host.places("auto"), scaling_host.places("cpu")) == (8, 12)
    monkeypatch.setenv(name, "6")
    assert scaling_host.places("auto") == scaling_host.places("cpu") == 6


def test_places_of_a_pbs_job_are_the_lines_of_its_file(monkeypatch, scaling_host, tmp_path):
    (tmp_path / "nodes").write_text("one\none\ntwo\n")
    monkeypatch.delenv("SLURM_NTASKS", raising=False)
    monkeypatch.delenv("PBS_NP", raising=False)
    monkeypatch.setenv("PBS_NODEFILE", str(tmp_path / "nodes"))
    assert scaling_host.places("cpu") == 3


@pytest.mark.parametrize(
    ("visible", "count"), [(None, 4), ("", 0), ("-1", 0), ("1", 1), ("0,1", 2), ("GPU-a, GPU-b", 2), ("0,1,2,3,4", 4)]
)
def test_gpus_are_those_that_programs_see(monkeypatch, scaling_host, visible, count):
    listed = "".join(f"GPU {n}: some (UUID: GPU-{n})\n" for n in range(4))
    monkeypatch.setattr(scaling_host, "command_output", lambda *_: listed)
    if visible is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert scaling_host.gpu_count() == count


def test_provenance_has_what_figures_depend_on(monkeypatch, scaling_host):
    said = {
        "lscpu": "Model name:  A CPU\nCPU(s):  8\nFlags:  many\n",
        "nvidia-smi": "A GPU, 9 MiB, 1.2, 3 MHz\n",
        "fdapp": "fdapp 0.0, revision a\n",
    }
    monkeypatch.setattr(scaling_host, "command_output", lambda *words: said.get(words[0], ""))
    env = {"OMP_NUM_THREADS": "2", "UCX_TLS": "cuda", "PBS_NP": "3", "CUDA_VISIBLE_DEVICES": "0", "HOME": "/"}
    facts = scaling_host.provenance("[grid]", ["time.steps=4"], "fdapp", ["mpirun", "-np", "{ranks}"], env)
    assert facts["identity"] == {
        "program": ["fdapp 0.0, revision a"], "configuration": "[grid]", "overrides": ["time.steps=4"],
        "launcher": ["mpirun", "-np", "{ranks}"], "machine": ["A CPU", "A GPU"],
    }  # fmt: skip
    assert facts["gpus"] == facts["links"] == ["A GPU, 9 MiB, 1.2, 3 MHz"] and facts["memory_bytes"] > 1 << 20
    assert facts["cpu"] == ["Model name:  A CPU", "CPU(s):  8"] and facts["kernel"]
    assert {"clock source", "mpi", "revision of scripts"} < facts.keys()
    assert facts["environment"] == {name: text for name, text in env.items() if name != "HOME"}
