"""Reads the text in which Prometheus is told of metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from prometheus_client.parser import text_string_to_metric_families

from satchel.runtime.metrics.scraping import exposition


@dataclass(frozen=True)
class Figures:
    """The samples of one answer: label values by name, and the number, by the name of the sample."""

    samples: Mapping[str, tuple[tuple[Mapping[str, str], float], ...]]

    @classmethod
    def read(cls, *texts: str) -> Self:
        """Read one answer, or those of several processes together."""
        samples: dict[str, tuple[tuple[Mapping[str, str], float], ...]] = {}
        for text in texts:
            for family in text_string_to_metric_families(text):
                for sample in family.samples:
                    samples[sample.name] = (*samples.get(sample.name, ()), (sample.labels, sample.value))
        return cls(samples)

    def value(self, name: str, **labels: str) -> float:
        """Return the sum of the samples that have these labels; 0 if there are none."""
        found = self.samples.get(name, ())
        return sum(value for has, value in found if labels.items() <= has.items())

    def labels(self, name: str) -> frozenset[str]:
        """Return the names of all labels that samples of a name have."""
        return frozenset(label for has, _ in self.samples[name] for label in has)

    def count(self) -> int:
        """Return the number of series."""
        return sum(map(len, self.samples.values()))


@dataclass(frozen=True)
class Growth:
    """By how much the samples of this process grew between two readings."""

    before: Figures
    after: Figures

    def of(self, name: str, **labels: str) -> float:
        """Return by how much the sum of the samples with these labels grew."""
        return self.after.value(name, **labels) - self.before.value(name, **labels)


async def scrape() -> Figures:
    """Read the metrics of this process."""
    text, _ = await exposition()
    return Figures.read(text.decode())
