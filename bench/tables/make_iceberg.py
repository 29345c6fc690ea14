"""Iceberg tables for the benchmarks of tables, all written by pyiceberg; in a catalog in SQLite that all engines share.

make_iceberg.py base|small|history|young|replaced DIRECTORY SCALE

The directory gets `catalog.db`, with the one table `bench.orders`, its `warehouse`, and `keys.parquet` where the case wants it.
"""

import itertools
import os
import shutil
import sys

import pyarrow.parquet as pq
from orders import ROWS_OF_SMALL_FILE, SMALL_FILES, base_parts, keys, orders
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.conversions import to_bytes
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.typedef import Record
from pyiceberg.types import LongType

SNAPSHOTS = 1_000
FILES = 100_000
# Manifests of so many files have the size that merging stops at.
FILES_OF_LOAD = 19_801
YOUNG_SNAPSHOTS = 10
YOUNG_FILES = 1_000
FILES_REPLACED = 10
FILES_OF_APPEND = 50
ROWS_OF_NAMED_FILE = 1_000
# Those that the selective query reads (statements.json); the others of a history are names alone.
FILES_READ = (120, 121)
PROPERTIES = {
    "write.parquet.compression-codec": "zstd",
    "write.parquet.compression-level": "1",
    # As the other engines do by default.
    "commit.manifest-merge.enabled": "true",
    "write.merge.mode": "copy-on-write",
}


def create(path):
    catalog = SqlCatalog("lake", uri=f"sqlite:///{path}/catalog.db", warehouse=f"file://{path}/warehouse")
    catalog.create_namespace("bench")
    schema = orders("SELECT range AS id FROM range(0)", 0).schema
    return catalog.create_table("bench.orders", schema=schema, properties=PROPERTIES)


def base(path, scale):
    table = create(path)
    for ids in base_parts(scale):
        table.append(orders(ids, 0))
    pq.write_table(keys(scale), f"{path}/keys.parquet", compression="zstd")


def small(path, scale):
    table = create(path)
    count = max(20, SMALL_FILES // scale)
    for first in range(0, count, FILES_OF_APPEND):
        last = min(count, first + FILES_OF_APPEND)
        with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
            for part in range(first, last):
                ids = f"SELECT range AS id FROM range({part * ROWS_OF_SMALL_FILE}, {(part + 1) * ROWS_OF_SMALL_FILE})"
                append.append_data_file(written(table, orders(ids, part)))


def history(path, scale):
    """A table that was loaded in few snapshots and grew by a file in each since."""
    count, files = max(20, SNAPSHOTS // scale), FILES // scale
    loads = [FILES_OF_LOAD // scale] * ((files - count) // (FILES_OF_LOAD // scale))
    snapshots(path, loads + [1] * (count - len(loads)))


def young(path, _scale):
    """As `history`, at its beginning."""
    snapshots(path, [YOUNG_FILES // YOUNG_SNAPSHOTS] * YOUNG_SNAPSHOTS)


def replaced(path, scale):
    """Snapshots that each replaced the files of the one before, which are there."""
    table = create(path)
    like = written(table, orders(f"SELECT range AS id FROM range({ROWS_OF_NAMED_FILE})", 0))
    live = []
    for start in range(0, SNAPSHOTS // scale, 50):
        with table.transaction() as transaction:
            for snapshot in range(start, min(start + 50, SNAPSHOTS // scale)):
                files = [named(table, like, snapshot * FILES_REPLACED + number) for number in range(FILES_REPLACED)]
                for file in files:
                    with open(file.file_path.removeprefix("file://"), "wb") as out:
                        out.write(b"x" * 100)
                with transaction.update_snapshot().overwrite() as overwrite:
                    for file in live:
                        overwrite.delete_data_file(file)
                    for file in files:
                        overwrite.append_data_file(file)
                live = files


def snapshots(path, sizes):
    table = create(path)
    like = written(table, orders(f"SELECT range AS id FROM range({ROWS_OF_NAMED_FILE})", 0))
    files = iter(range(sum(sizes)))
    for start in range(0, len(sizes), 50):
        with table.transaction() as transaction:
            for size in sizes[start : start + 50]:
                with transaction.update_snapshot().merge_append() as append:
                    for number in itertools.islice(files, size):
                        append.append_data_file(file_of_history(table, like, number))


def file_of_history(table, like, number):
    if number not in FILES_READ:
        return named(table, like, number)
    first = number * ROWS_OF_NAMED_FILE
    return written(table, orders(f"SELECT range AS id FROM range({first}, {first + ROWS_OF_NAMED_FILE})", 0))


def written(table, rows):
    """A file of rows, not committed yet."""
    from pyiceberg.io.pyarrow import _dataframe_to_data_files

    # The default of file sizes counts Arrow's bytes, of which no file here has as many.
    [file] = _dataframe_to_data_files(table_metadata=table.metadata, df=rows, io=table.io)
    return file


def named(table, like, number):
    """A file like another, whose keys follow those of the file before."""
    first = number * ROWS_OF_NAMED_FILE
    bounds = lambda known, value: {**known, 1: to_bytes(LongType(), value)}
    file = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=f"{table.location()}/data/part-{number:06d}.parquet",
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=like.record_count,
        file_size_in_bytes=like.file_size_in_bytes,
        column_sizes=like.column_sizes,
        value_counts=like.value_counts,
        null_value_counts=like.null_value_counts,
        nan_value_counts=like.nan_value_counts,
        lower_bounds=bounds(like.lower_bounds, first),
        upper_bounds=bounds(like.upper_bounds, first + ROWS_OF_NAMED_FILE - 1),
        split_offsets=like.split_offsets,
        sort_order_id=None,
        equality_ids=None,
        key_metadata=None,
    )
    file.spec_id = 0
    return file


if __name__ == "__main__":
    kind, target, divisor = sys.argv[1:4]
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    {"base": base, "small": small, "history": history, "young": young, "replaced": replaced}[kind](target, int(divisor))
