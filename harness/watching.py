"""The machine is looked at while it measures: between samples, never within a timed region."""

from harness.machine import LoadMeter
from harness.sensors import Gpu, PackageEnergy, PeakMemory, cpu_mhz


class Watch:
    """Says what the machine did while a sample was made.

    alone: whether this process does all of the work. Where it doesn't, who else is busy may be
    doing it too, and neither load nor the processors' energy are read.
    Load and clocks are those of the last stretch of at least `harness.machine.SAMPLE_S` that has
    ended, and missing until one has: the operating system counts no finer.
    """

    def __init__(self, device: str, *, alone: bool) -> None:
        self._gpu = Gpu(device) if device.startswith("cuda") else None
        self._memory = PeakMemory(device)
        self._packages = PackageEnergy() if alone and self._gpu is None else None
        self._meter = LoadMeter() if alone else None
        self._stretch: dict[str, float | None] = {}

    def begin(self) -> None:
        """A sample's time begins: what the caller did since the last one is not its."""
        self._memory.reset()
        self._energy_j()

    def facts(self) -> dict[str, float]:
        """Of the sample that has just been made, under the names of `results.records`; what can't
        be read is left out."""
        found: dict[str, float | None] = {
            "energy_j": self._energy_j(),
            "peak_memory_bytes": self._memory.bytes(),
        }
        if self._meter is not None and self._meter.ready:
            self._stretch = {"other_load": self._meter.share(), "cpu_mhz": cpu_mhz()}
            if self._gpu is not None:
                self._stretch |= {"gpu_mhz": self._gpu.mhz(), "gpu_celsius": self._gpu.celsius()}
            self._meter = LoadMeter()
        both = {**self._stretch, **found}
        return {name: value for name, value in both.items() if value is not None}

    def _energy_j(self) -> float | None:
        meter = self._packages if self._gpu is None else self._gpu
        return None if meter is None else meter.since_last()
