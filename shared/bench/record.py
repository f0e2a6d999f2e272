"""What a comparison has measured, and the file that it is kept in."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

MEASURED = Path(__file__).with_name("measured.json")


@dataclass(frozen=True, slots=True)
class Row:
    """What one of them costs. `ended` says why there is no figure for more turns, if so."""

    name: str
    kind: str  # "minimal", "step" or "peer"
    version: str
    microseconds: dict[int, float]  # a turn, in a conversation of so many
    ended: str
    cold_ms: float
    peak_mb: float
    size_mb: float

    @property
    def growth(self) -> float | None:
        """How much more a turn costs in the longest conversation than in the shortest."""
        if len(self.microseconds) < 2:
            return None
        costs = [cost for _, cost in sorted(self.microseconds.items())]
        return costs[-1] / costs[0]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One run of `make bench PEERS=1`."""

    machine: dict[str, str]
    sizes: tuple[int, ...]
    limit: int
    rows: tuple[Row, ...]


def write(comparison: Comparison, path: Path) -> None:
    text = json.dumps(dataclasses.asdict(comparison), indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8", newline="\n")


def rounded(comparison: Comparison) -> Comparison:
    """Return it with as many digits as mean something."""
    rows = [
        dataclasses.replace(
            row,
            microseconds={turns: float(f"{c:.4g}") for turns, c in row.microseconds.items()},
            cold_ms=round(row.cold_ms, 1),
            peak_mb=round(row.peak_mb, 1),
            size_mb=round(row.size_mb, 3),
        )
        for row in comparison.rows
    ]
    return dataclasses.replace(comparison, rows=tuple(rows))


def read(path: Path) -> Comparison:
    found = json.loads(path.read_text("utf-8"))
    rows = [
        Row(**{**row, "microseconds": {int(n): c for n, c in row["microseconds"].items()}})
        for row in found["rows"]
    ]
    return Comparison(found["machine"], tuple(found["sizes"]), found["limit"], tuple(rows))
