"""What a machine says of itself: clocks, energy, temperature, and the most memory in use.

Each reading is None where the machine, or this user, has no such sensor; nothing is estimated.
"""

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from harness.machine import usable_cores

_CPUS = Path("/sys/devices/system/cpu")
_CPUINFO = Path("/proc/cpuinfo")
_POWERCAP = Path("/sys/class/powercap")


def cpu_mhz() -> float | None:
    """Mean clock of the usable cores."""
    cores = usable_cores()
    files = [_CPUS / f"cpu{core}" / "cpufreq" / "scaling_cur_freq" for core in cores]
    try:
        return round(fmean(int(path.read_text()) for path in files) / 1000, 1)
    except (OSError, ValueError):
        pass
    try:
        found = re.findall(r"^cpu MHz\s*:\s*([\d.]+)$", _CPUINFO.read_text(), re.MULTILINE)
    except OSError:
        return None
    # One line a core that is online, in order.
    clocks = [float(found[core]) for core in cores if core < len(found)]
    return round(fmean(clocks), 1) if clocks else None


class PackageEnergy:
    """Energy counters (RAPL) of all processor packages. They show what the whole package uses,
    by whatever program, and often only root may read them."""

    def __init__(self) -> None:
        self._counters: dict[Path, tuple[int, int]] = {}
        for zone in sorted(_POWERCAP.glob("intel-rapl:*")):
            try:
                if (zone / "name").read_text().startswith("package"):
                    counter = zone / "energy_uj"
                    size = int((zone / "max_energy_range_uj").read_text())
                    self._counters[counter] = (int(counter.read_text()), size)
            except (OSError, ValueError):
                continue

    def since_last(self) -> float | None:
        """Joules since this was last asked, or made."""
        if not self._counters:
            return None
        joules = 0.0
        try:
            for path, (before, size) in self._counters.items():
                now = int(path.read_text())
                # The counter starts again at 0 when it is full.
                joules += (now - before if now >= before else now - before + size) / 1e6
                self._counters[path] = (now, size)
        except (OSError, ValueError):
            self._counters = {}
            return None
        return joules


class PeakMemory:
    """The most memory that tensors took on a GPU since `reset`.

    On a CPU nothing can be said of one decoder: memory that is freed is kept, for speed
    (`sdlm.allocator`), so what the process holds is what any decoder has ever needed.
    """

    def __init__(self, device: str) -> None:
        self._gpu = device if device.startswith("cuda") else None

    def reset(self) -> None:
        if self._gpu is not None:
            torch.cuda.reset_peak_memory_stats(self._gpu)

    def bytes(self) -> int | None:
        return None if self._gpu is None else torch.cuda.max_memory_allocated(self._gpu)


class Gpu:
    """A GPU's clock, temperature and energy, through NVML where its Python package is installed
    (nvidia-ml-py)."""

    def __init__(self, device: str) -> None:
        self._nvml: Any = None
        if find_spec("pynvml") is None:
            return
        pynvml = import_module("pynvml")
        try:
            pynvml.nvmlInit()
            # By its name: NVML counts devices that CUDA may be told not to see.
            cuda: Any = torch.cuda
            uuid = cuda.get_device_properties(device).uuid
            self._handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}")
        except pynvml.NVMLError:
            return
        self._nvml = pynvml
        self._energy_mj = self._read("nvmlDeviceGetTotalEnergyConsumption")

    def mhz(self) -> float | None:
        return self._read("nvmlDeviceGetClockInfo", "NVML_CLOCK_SM")

    def celsius(self) -> float | None:
        return self._read("nvmlDeviceGetTemperature", "NVML_TEMPERATURE_GPU")

    def since_last(self) -> float | None:
        """Joules that it has used since this was last asked, or made."""
        now = self._read("nvmlDeviceGetTotalEnergyConsumption")
        if now is None or self._energy_mj is None:
            return None
        joules, self._energy_mj = (now - self._energy_mj) / 1000, now
        return joules

    def _read(self, function: str, *constants: str) -> float | None:
        if self._nvml is None:
            return None
        try:
            which = [getattr(self._nvml, name) for name in constants]
            return float(getattr(self._nvml, function)(self._handle, *which))
        except self._nvml.NVMLError:
            return None
