"""Labelled tables in blocks of rows, read again each time they are needed: files, Arrow datasets, frames."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rulecover.data.frames import as_pandas, is_frame
from rulecover.exceptions import MismatchedDataError
from rulecover.memory import bytes_of
from rulecover.partitions.coded import CodedTargets, TargetBlocks
from rulecover.typing import Array, Ints

#: Rows that a model is trained on, where there are more.
SAMPLED = 100_000

#: The share of the memory limit that a block of rows may take, and about how often its numbers are there at once.
_BLOCK_SHARE, _COPIES = 0.1, 4
#: The fewest and the most rows of a block.
_FEWEST, _MOST = 10_000, 1_000_000

#: From the most rows of a block, and the columns that are needed (all if ``None``), to frames.
ReadBlocks = Callable[[int, "Sequence[str] | None"], Iterator[Any]]


class Labels(NamedTuple):
    """What is known of every row: its target, its weight if there are weights, and where blocks begin and end."""

    y: Array | CodedTargets
    weight: Array | None
    starts: Ints

    @property
    def values(self) -> Array:
        """The different labels, or all numbers."""
        return self.y.values if isinstance(self.y, CodedTargets) else self.y


@dataclass(frozen=True, eq=False)
class TableInBlocks:
    """A labelled table that is read in blocks of rows, as often as it takes; see `open_table`.

    Parameters
    ----------
    read
        Reads the blocks.
    target, weight
        The columns that are to be predicted, and what a row counts; no weight if ``None``.
    memory_limit
        The bytes that fitting may take.
    sample_rows
        The most rows that a model is trained on.
    columns
        The columns besides these, in the order of the first block.
    block_rows
        The most rows of a block.
    """

    read: ReadBlocks = field(repr=False)
    target: str
    weight: str | None
    memory_limit: int
    sample_rows: int
    columns: tuple[str, ...]
    block_rows: int

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """The blocks as pandas frames, in the order of the rows; some of the columns alone if they are given."""
        names = [*self.columns, self.target, *([] if self.weight is None else [self.weight])]
        for number, block in enumerate(self.read(self.block_rows, columns)):
            frame = as_pandas(block)
            self._check(frame, number, names if columns is None else list(columns))
            yield frame

    def _check(self, frame: Any, number: int, names: list[str]) -> None:
        if lacking := [name for name in names if name not in frame.columns]:
            raise MismatchedDataError(
                f"block {number} lacks column {lacking[0]!r}, which the first block has; give blocks of the same "
                "columns."
            )
        if more := [str(name) for name in frame.columns if name not in {*self.columns, self.target, self.weight}]:
            raise MismatchedDataError(
                f"block {number} has column {more[0]!r}, which the first block lacks; give blocks of the same columns."
            )

    @cached_property
    def labels(self) -> Labels:
        """The target and the weights of all rows, in one pass over these columns."""
        wanted = [self.target, *([] if self.weight is None else [self.weight])]
        targets, sizes = TargetBlocks(), [0]
        weights: list[Array] = []
        for block in self.blocks(wanted):
            targets.add(np.asarray(block[self.target]))
            sizes.append(len(block))
            if self.weight is not None:
                weights.append(np.asarray(block[self.weight], dtype=np.float64))
        if not sum(sizes):
            raise ValueError("the table has no rows; give one with rows.")
        weight = np.concatenate(weights) if weights else None
        return Labels(targets.targets(), weight, np.cumsum(sizes))

    def rows(self, wanted: Ints, starts: Ints) -> Any:
        """Some rows, by their sorted places, as one pandas frame."""
        last = int(wanted[-1])
        found: list[Any] = []
        for start, block in zip(starts.tolist(), self.blocks(), strict=False):
            mine = wanted[(wanted >= start) & (wanted < start + len(block))] - start
            if len(mine) or not found:
                found.append(block.iloc[mine])
            if start + len(block) > last:
                break
        return _joined([each for each in found if len(each)])

    def inputs(self, frame: Any) -> Any:
        """The columns of a block that rules may use, in the order of the first block."""
        return frame[list(self.columns)]


def _joined(blocks: Sequence[Any]) -> Any:
    """Blocks as one frame; truth values are numbers where they are in another block, which has gaps among them."""
    both = {np.dtype(bool), np.dtype(float)}
    mixed = [name for name in blocks[0] if {block[name].dtype for block in blocks} == both]
    return pd.concat([block.astype(dict.fromkeys(mixed, float)) for block in blocks], ignore_index=True)


class InOrder:
    """The blocks of a table, one by one: cheap where they are asked for in their order, pass after pass."""

    def __init__(self, table: TableInBlocks, starts: Ints) -> None:
        self._table, self._starts = table, starts
        self._next = 0
        self._blocks: Iterator[Any] = iter(())
        self._last: Any = None

    def __getitem__(self, number: int) -> Any:
        if self._last is not None and number == self._next - 1:
            return self._last
        self._last = None
        if number < self._next or self._next == 0:
            self._blocks, self._next = self._table.blocks(), 0
        for block in self._blocks:
            self._next += 1
            if self._next > number:
                expected = int(self._starts[number + 1] - self._starts[number])
                if len(block) != expected:
                    raise _changed(f"block {number} has {len(block)} rows, but had {expected} before")
                self._last = block
                return block
        raise _changed(f"block {number} is gone")


def _changed(what: str) -> MismatchedDataError:
    return MismatchedDataError(f"the table changed while it was read: {what}; keep it as it is until fitting ends.")


def open_table(
    data: Any,
    *,
    target: str,
    weight: str | None = None,
    memory_limit: int | str = "4GB",
    sample_rows: int = SAMPLED,
) -> TableInBlocks:
    """A labelled table larger than memory, for `fit` and `explain` to take in place of X and y.

    Rows are read in blocks, several times. What is kept of each row is its target, its weight and the leaf that it
    reaches in each tree, one or two bytes each, in temporary files where they are more than 0.3 of the memory limit.

    Parameters
    ----------
    data
        A Parquet file, several, or a folder of them; a dataset or a table of pyarrow; frames (of pandas, polars or
        Arrow) in a list or in anything else that can be read more than once; or a function that returns an iterator of
        frames, new each time.
    target
        The column to be predicted.
    weight
        The column that says what each row counts; all rows count the same by default.
    memory_limit
        The memory that fitting may take, in bytes or as "4GB" or "500MiB"; for the formula see docs/scale.md.
    sample_rows
        A model that is not trained yet is trained on this many rows, drawn at random, if there are more.

    Returns
    -------
    TableInBlocks
        What `fit` and `explain` read.

    Raises
    ------
    ValueError
        If a column is not in the table or none is left, or a limit is not a number.
    TypeError
        If the data are not a table, or cannot be read more than once.
    FileNotFoundError
        If there is no such file or folder.

    Examples
    --------
    >>> import pandas as pd
    >>> from rulecover import MIRCOClassifier, open_table
    >>> months = [pd.DataFrame({"age": [20, 30, 40], "buys": ["no", "no", "yes"]}) for _ in range(4)]
    >>> table = open_table(months, target="buys")
    >>> mirco = MIRCOClassifier(random_state=0).fit(table)
    >>> mirco.predict(pd.DataFrame({"age": [25, 45]})).tolist()
    ['no', 'yes']
    """
    limit = bytes_of(memory_limit)
    if isinstance(sample_rows, bool) or not isinstance(sample_rows, (int, np.integer)) or sample_rows < 1:
        raise ValueError(f"sample_rows is {sample_rows!r}; give a whole number of at least 1.")
    read, names = _source(data)
    for role, name in (("target", target), *([] if weight is None else [("weight", weight)])):
        if name not in names:
            shown = ", ".join(map(repr, names[:10]))
            raise ValueError(f"{role} is {name!r}, but the table has no such column; there are {shown}.")
    if target == weight:
        raise ValueError(f"target and weight are both {target!r}; give a column of weights, or leave weight out.")
    columns = tuple(name for name in names if name not in (target, weight))
    if not columns:
        raise ValueError(f"the table has no columns besides {target!r}; give some to make rules of.")
    rows = int(_BLOCK_SHARE * limit / (8 * _COPIES * len(names)))
    return TableInBlocks(read, target, weight, limit, sample_rows, columns, min(max(rows, _FEWEST), _MOST))


# Sources --------------------------------------------------------------------------------------------------------------


def _source(data: Any) -> tuple[ReadBlocks, tuple[str, ...]]:
    """How blocks of any kind of source are read, and the columns of the first one."""
    if isinstance(data, (str, os.PathLike)):
        return _files([data])
    if isinstance(data, (list, tuple)) and data and all(isinstance(each, (str, os.PathLike)) for each in data):
        return _files(data)
    if type(data).__module__.partition(".")[0] == "pyarrow" and not isinstance(data, Iterator):
        return _arrow(data)
    if is_frame(data):
        return _frames([data])
    if callable(data):
        return _frames(data)
    if isinstance(data, Iterator):
        raise TypeError(
            f"data is a {type(data).__name__}, which can be read only once, but rows are read several times; give a "
            "list of frames, a function that returns a new iterator each time, or files."
        )
    if isinstance(data, Iterable):
        return _frames(data)
    raise TypeError(f"data is a {type(data).__name__}; give Parquet files, a pyarrow dataset or frames.")


def _arrow(data: Any) -> tuple[ReadBlocks, tuple[str, ...]]:
    """A dataset, a table or a batch of rows."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    if isinstance(data, ds.Dataset):
        return _dataset(data)
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        return _dataset(ds.dataset(data))
    raise TypeError(f"data is a {type(data).__name__}; give Parquet files, a pyarrow dataset or frames.")


def _files(paths: Sequence[Any]) -> tuple[ReadBlocks, tuple[str, ...]]:
    import pyarrow as pa
    import pyarrow.dataset as ds

    found = [path for each in paths for path in _parquet_files(Path(each))]
    folders: dict[str, Any] = {}
    if len(paths) == 1 and Path(paths[0]).is_dir():
        folders = {"partitioning": "hive", "partition_base_dir": str(paths[0])}
    try:
        return _dataset(ds.dataset([str(path) for path in found], format="parquet", **folders))
    except (pa.ArrowInvalid, OSError) as error:
        raise _unreadable(error) from error


def _parquet_files(path: Path) -> list[Path]:
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {str(path)!r}.")
    if path.is_dir():
        inside = sorted(each for each in path.rglob("*.parquet") if each.is_file() and not _hidden(each, path))
        if not inside:
            raise ValueError(f"the folder {str(path)!r} holds no Parquet file (*.parquet).")
        return inside
    with path.open("rb") as file:
        if file.read(4) not in (b"PAR1", b"PARE"):  # the latter with an encrypted footer
            raise ValueError(
                f"{str(path)!r} is not a Parquet file; give Parquet files, or CSV files as "
                "pyarrow.dataset.dataset(paths, format='csv')."
            )
    return [path]


def _hidden(path: Path, folder: Path) -> bool:
    """Whether a file is none of the table's, by its name or that of a folder: ``_temporary``, ``.part.parquet``."""
    return any(name.startswith((".", "_")) for name in path.relative_to(folder).parts)


def _dataset(dataset: Any) -> tuple[ReadBlocks, tuple[str, ...]]:
    _check_names(dataset.schema.names)
    dataset = _widened(dataset)
    names, by_folder = _without_index(dataset.schema.names), _names_of_folders(dataset)
    for fragment in dataset.get_fragments():
        mine = {*_without_index(fragment.physical_schema.names), *by_folder}
        path = getattr(fragment, "path", "a part of the dataset")
        if lacking := [name for name in names if name not in mine]:
            raise MismatchedDataError(
                f"{path} lacks column {lacking[0]!r}, which the first file has; give files of the same columns."
            )
        for name in set(names) - by_folder:
            here, first = fragment.physical_schema.field(name).type, dataset.schema.field(name).type
            if not _reads_as(here, first):
                raise MismatchedDataError(
                    f"{path} has column {name!r} as {here}, the first file as {first}; give files of the same types."
                )
        if more := sorted(mine - set(names)):
            raise MismatchedDataError(
                f"{path} has column {more[0]!r}, which the first file lacks; give files of the same columns."
            )
    return partial(_dataset_blocks, dataset, names), names


def _check_names(names: Sequence[str]) -> None:
    index = pd.Index(names)
    if not index.is_unique:
        raise ValueError(f"the table has several columns named {index[index.duplicated()][0]!r}; rename all but one.")


def _without_index(names: Sequence[str]) -> tuple[str, ...]:
    """The columns of a table, without the nameless index that pandas writes to a file as one more."""
    return tuple(name for name in names if not re.fullmatch(r"__index_level_\d+__", name))


def _names_of_folders(dataset: Any) -> set[str]:
    """The columns that are in the names of folders rather than in any file, as in year=2024/part.parquet."""
    in_files = {name for fragment in dataset.get_fragments() for name in fragment.physical_schema.names}
    return set(dataset.schema.names) - in_files


def _widened(dataset: Any) -> Any:
    """The dataset, with doubles where files have numbers of different types: nothing is rounded or too large."""
    import pyarrow as pa

    kinds: dict[str, set[Any]] = {}
    for fragment in dataset.get_fragments():
        for each in fragment.physical_schema:
            kinds.setdefault(each.name, set()).add(each.type)
    mixed = {name for name, types in kinds.items() if len(types) > 1 and all(map(_number, types))}
    if not mixed:
        return dataset
    fields = [pa.field(each.name, pa.float64()) if each.name in mixed else each for each in dataset.schema]
    import pyarrow.dataset as ds

    if not isinstance(dataset, ds.FileSystemDataset):
        raise MismatchedDataError(
            f"column {min(mixed)!r} has numbers of different types in parts of the dataset; cast it."
        )
    fragments = list(dataset.get_fragments())
    return ds.FileSystemDataset(fragments, pa.schema(fields), dataset.format, dataset.filesystem)


def _number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind))


def _reads_as(here: Any, wanted: Any) -> bool:
    """Whether values of one Arrow type can be read as another, whatever they are."""
    from pyarrow import types

    return bool(
        here == wanted
        or (_number(here) and _number(wanted) and here.bit_width <= wanted.bit_width)
        or (types.is_dictionary(here) and types.is_dictionary(wanted))
        or types.is_null(here)
    )


def _dataset_blocks(dataset: Any, names: Sequence[str], most: int, columns: Sequence[str] | None) -> Iterator[Any]:
    """The rows of a dataset in blocks of as many rows as may be."""
    import pyarrow as pa

    batches: list[Any] = []
    size = 0
    for batch in _batches(dataset, list(names if columns is None else columns), min(most, 1 << 17)):
        if size and size + batch.num_rows > most:
            yield pa.Table.from_batches(batches)
            batches, size = [], 0
        batches.append(batch)
        size += batch.num_rows
    if size:
        yield pa.Table.from_batches(batches)


def _batches(dataset: Any, columns: list[str], most: int) -> Iterator[Any]:
    """Some columns of a dataset, in batches as they are read."""
    import pyarrow as pa

    try:
        yield from dataset.to_batches(columns=columns, batch_size=most, **_scan_options(dataset))
    except (pa.ArrowInvalid, OSError) as error:
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> MismatchedDataError:
    reason = str(error).strip().partition("\n")[0].rstrip(".")
    return MismatchedDataError(
        f"the table cannot be read: {reason}; give whole files of the same types, and keep them as they are until "
        "fitting ends."
    )


def _scan_options(dataset: Any) -> dict[str, Any]:
    """Little is read ahead: by default pyarrow would hold a whole Parquet file in memory."""
    import pyarrow.dataset as ds

    options = {"batch_readahead": 1, "fragment_readahead": 1, "use_threads": False}
    if isinstance(getattr(dataset, "format", None), ds.ParquetFileFormat):
        options["fragment_scan_options"] = ds.ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True)
    return options


def _frames(data: Any) -> tuple[ReadBlocks, tuple[str, ...]]:
    """Frames that are there, or that a function makes each time."""
    make = data if callable(data) else partial(iter, data)
    first = next(iter(make()), None)
    if first is None:
        raise ValueError("the table has no blocks; give at least one with rows.")
    _check_frame(as_pandas(first), 0)
    names = list(as_pandas(first).columns)
    if odd := [name for name in names if not isinstance(name, str)]:
        raise TypeError(
            f"column {odd[0]!r} has a name that is not a text; call frame.columns = frame.columns.astype(str)."
        )
    _check_names(names)
    return partial(_frame_blocks, make), tuple(names)


def _check_frame(frame: Any, number: int) -> None:
    if not is_frame(frame):
        raise TypeError(f"block {number} is a {type(frame).__name__}; give data frames with named columns.")


def _frame_blocks(make: Callable[[], Iterable[Any]], most: int, columns: Sequence[str] | None) -> Iterator[Any]:
    for number, block in enumerate(make()):
        frame = as_pandas(block)
        _check_frame(frame, number)
        some = frame if columns is None or not set(columns) <= set(frame.columns) else frame[list(columns)]
        for start in range(0, max(1, len(some)), most):
            yield some.iloc[start : start + most]
