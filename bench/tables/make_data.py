"""Tables for the benchmarks of tables, all written by delta-rs.

make_data.py base|small|changes|log|checkpoint|orphans DIRECTORY SCALE

SCALE divides the sizes: 1 is what the figures are of.
"""

import glob
import json
import os
import shutil
import sys

import pyarrow.parquet as pq
from deltalake import DeltaTable, WriterProperties, write_deltalake
from orders import KEYS, ROWS, ROWS_OF_SMALL_FILE, SMALL_FILES, base_parts, keys, orders

COMMITS = 10_000
CHECKPOINT_FILES = 100_000
ORPHANS = 10_000
PROPERTIES = WriterProperties(compression="ZSTD", compression_level=1)


def base(path, scale):
    for ids in base_parts(scale):
        write_deltalake(f"{path}/table", orders(ids, 0), mode="append", writer_properties=PROPERTIES)
    pq.write_table(keys(scale), f"{path}/keys.parquet", compression="zstd")


def changes(path, scale):
    """A version whose change files hold a row before and a row after for each updated key."""
    rows = ROWS // scale
    for part in range(4):
        ids = f"SELECT range AS id FROM range({part * rows // 40}, {(part + 1) * rows // 40})"
        configuration = {"delta.enableChangeDataFeed": "true"} if part == 0 else None
        write_deltalake(f"{path}/table", orders(ids, 0), mode="append", writer_properties=PROPERTIES, configuration=configuration)
    DeltaTable(f"{path}/table").update(updates={"amount": "amount + 1"}, predicate=f"order_id < {KEYS // scale}", writer_properties=PROPERTIES)


def small(path, scale):
    """Files that share no rows: equal ones would lie side by side in the packed file and compress as nobody's data do."""
    location = f"{path}/table"
    # An empty table first: the file that makes a table names the elements of lists otherwise than those after it.
    write_deltalake(location, orders("SELECT range AS id FROM range(0)", 0))
    table = DeltaTable(location)
    for part in range(max(20, SMALL_FILES // scale)):
        ids = f"SELECT range AS id FROM range({part * ROWS_OF_SMALL_FILE}, {(part + 1) * ROWS_OF_SMALL_FILE})"
        write_deltalake(table, orders(ids, part), mode="append", writer_properties=PROPERTIES)


def log(path, scale):
    table = f"{path}/table"
    seed(table)
    [add] = adds_of(table)
    for version in range(1, COMMITS // scale):
        commit(table, version, [{"add": {**add, "path": f"part-{version:06d}.parquet"}}])


def checkpoint(path, scale):
    table = f"{path}/table"
    seed(table)
    [add] = adds_of(table)
    commit(table, 1, [{"add": {**add, "path": f"part-{number:06d}.parquet"}} for number in range(1, CHECKPOINT_FILES // scale)])
    DeltaTable(table).create_checkpoint()
    for file in glob.glob(f"{table}/_delta_log/*.json"):
        os.remove(file)


def orphans(path, scale):
    table = f"{path}/table"
    seed(table)
    for number in range(ORPHANS // scale):
        file = f"{table}/part-orphan-{number:06d}.parquet"
        with open(file, "wb") as out:
            out.write(b"x" * 100)
        os.utime(file, (1_700_000_000, 1_700_000_000))


def seed(table):
    write_deltalake(table, orders("SELECT range AS id FROM range(1000)", 0), writer_properties=PROPERTIES)


def adds_of(table):
    adds = []
    for file in sorted(glob.glob(f"{table}/_delta_log/*.json")):
        with open(file) as lines:
            adds += [action["add"] for action in map(json.loads, lines) if "add" in action]
    return adds


def commit(table, version, actions):
    info = {"commitInfo": {"timestamp": 1_767_225_600_000 + version, "operation": "WRITE", "operationParameters": {"mode": "Append"}}}
    with open(f"{table}/_delta_log/{version:020d}.json", "w") as out:
        out.writelines(json.dumps(action) + "\n" for action in [info, *actions])


if __name__ == "__main__":
    kind, target, divisor = sys.argv[1:4]
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    {"base": base, "changes": changes, "small": small, "log": log, "checkpoint": checkpoint, "orphans": orphans}[kind](target, int(divisor))
