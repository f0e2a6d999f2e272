"""A syrupy extension for the pinned files of a step: the snapshot is the file that readers open."""

from pathlib import Path
from typing import TYPE_CHECKING

from syrupy.data import SnapshotCollection, SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

if TYPE_CHECKING:
    from syrupy.location import PyTestLocation
    from syrupy.types import SnapshotIndex


class StepFileExtension(SingleFileSnapshotExtension):
    """`text == pinned(name="expected_output")` compares with expected_output.txt of the step."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"

    @classmethod
    def get_location(cls, *, test_location: "PyTestLocation", index: "SnapshotIndex") -> str:
        step = Path(test_location.filepath).parent.parent
        return str(step / f"{index}.{cls.file_extension}")

    @classmethod
    def matches_test_location(
        cls, *, test_location: "PyTestLocation", snapshot_location: str
    ) -> bool:
        # The files are named for their readers and not for the test that writes them.
        return True

    def discover_snapshots(
        self, *, test_location: "PyTestLocation", ignore_extensions: list[str] | None = None
    ) -> SnapshotCollections:
        # Unused snapshots are deleted on an update. A step's folder has other text files in it:
        # where nothing is discovered, nothing is unused.
        return SnapshotCollections()

    @classmethod
    def write_snapshot_collection(
        cls,
        *,
        snapshot_collection: SnapshotCollection,
        name_order: dict[str, int] | None = None,
    ) -> None:
        text = next(iter(snapshot_collection)).data
        Path(snapshot_collection.location).write_text(str(text), encoding="utf-8", newline="\n")
