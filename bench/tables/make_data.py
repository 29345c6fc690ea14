"""Tables for the benchmarks of tables, all written by delta-rs.

make_data.py base|small|changes|log|checkpoint|orphans DIRECTORY SCALE

SCALE divides the sizes: 1 is what the figures are of.
"""

import glob
import json
import os
import shutil
import sys

import duckdb
import pyarrow.parquet as pq
from deltalake import DeltaTable, WriterProperties, write_deltalake

ROWS = 5_000_000
KEYS = 500_000
BASE_FILES = 16
SMALL_FILES = 1_000
ROWS_OF_SMALL_FILE = 41_000
COMMITS = 10_000
CHECKPOINT_FILES = 100_000
ORPHANS = 10_000
PROPERTIES = WriterProperties(compression="ZSTD", compression_level=1)

connection = duckdb.connect()
connection.execute("SET TimeZone = 'UTC'; SET threads = 2")


def words(name, salt):
    lists = {
        "status": ["created", "paid", "packed", "shipped", "delivered", "returned"],
        "city": ["Oslo", "Berlin", "Lisbon", "Toronto", "Nagoya", "Austin", "Lyon", "Krakow", "Leeds", "Turin", "Quito", "Perth"],
        "country": ["NO", "DE", "PT", "CA", "JP", "US", "FR", "PL", "GB", "IT", "EC", "AU"],
        "tag": ["gift", "express", "b2b", "promo", "fragile", "repeat", "mobile", "web", "bulk", "eco", "vip", "intl"],
    }
    return "%s[1 + (hash(id, %s) %% %d)::INT]" % (lists[name], salt, len(lists[name]))


def orders(ids, seed):
    """Orders of the ids a query gives."""
    return connection.execute(
        f"""SELECT id AS order_id, (hash(id, {seed} + 1) % 500000)::BIGINT AS customer_id, (hash(id, {seed} + 2) % 100000 + 1)::BIGINT / 100.0 AS amount,
        {words("status", f"{seed} + 3")} AS status, make_timestamptz(1767225600000000 + id * 1000) AS ts,
        struct_pack(street := (hash(id, {seed} + 4) % 9900 + 100)::VARCHAR || ' Main Street', city := {words("city", f"{seed} + 5")},
          zip := lpad((hash(id, {seed} + 6) % 100000)::VARCHAR, 5, '0'), country := {words("country", f"{seed} + 5")}) AS address,
        [{words("tag", f"{seed} + 7")}, {words("tag", f"{seed} + 8")}, {words("tag", f"{seed} + 9")}] AS tags
        FROM ({ids})"""
    ).to_arrow_table()


def base(path, scale):
    rows = ROWS // scale
    for part in range(BASE_FILES):
        ids = f"SELECT range AS id FROM range({part * rows // BASE_FILES}, {(part + 1) * rows // BASE_FILES})"
        write_deltalake(f"{path}/table", orders(ids, 0), mode="append", writer_properties=PROPERTIES)
    keys = KEYS // scale
    # Every tenth row has another value; a hundredth of the keys is not there yet.
    ids = f"SELECT CASE WHEN range % 100 = 99 THEN {rows} + range ELSE range * 10 + (hash(range) % 10)::BIGINT END AS id FROM range({keys}) ORDER BY hash(range)"
    pq.write_table(orders(ids, 100), f"{path}/keys.parquet", compression="zstd")


def changes(path, scale):
    """A version whose change files hold a row before and a row after for each updated key."""
    rows, keys = ROWS // scale, KEYS // scale
    for part in range(4):
        ids = f"SELECT range AS id FROM range({part * rows // 40}, {(part + 1) * rows // 40})"
        configuration = {"delta.enableChangeDataFeed": "true"} if part == 0 else None
        write_deltalake(f"{path}/table", orders(ids, 0), mode="append", writer_properties=PROPERTIES, configuration=configuration)
    DeltaTable(f"{path}/table").update(updates={"amount": "amount + 1"}, predicate=f"order_id < {keys}", writer_properties=PROPERTIES)


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
