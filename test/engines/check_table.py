"""Checks a Delta table against the protocol, from its files alone (JSON and Parquet readers only; no table engine).

usage: check_table.py TABLE      prints one line per violation and a summary; exit 1 when there is a violation.

Checked: versions without a gap; one action a line; at most one commitInfo, metaData and protocol, and one txn per application, in a commit; adds and removes;
partition values; every checkpoint and version checksum against the replayed state; _last_checkpoint; every live file's size, row count, null counts and bounds;
versions without data change keep the rows; recorded changes carry known change types.
"""

import datetime
import decimal
import glob
import json
import math
import os
import re
import sys
import urllib.parse

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

COMMIT = re.compile(r"^(\d{20})\.json$")
CHECKPOINT = re.compile(r"^(\d{20})\.checkpoint\.parquet$")
CHANGE_TYPES = {"insert", "delete", "update_preimage", "update_postimage"}
findings = []


def finding(rule, text):
    findings.append(f"{rule}: {text}")


def parse_file(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file.read().split("\n") if line]


class State:
    def __init__(self):
        self.files, self.marks, self.metadata, self.protocol = {}, {}, None, None

    def apply(self, version, actions):
        counts, apps = {}, set()
        adds, removes = [], []
        for action in actions:
            if len(action) != 1:
                finding("action", f"version {version} has a line with {len(action)} actions")
            (kind, body), = action.items()
            counts[kind] = counts.get(kind, 0) + 1
            if kind == "add":
                adds.append(body)
            elif kind == "remove":
                removes.append(body)
            elif kind == "txn":
                if body["appId"] in apps:
                    finding("txn", f"version {version} has two txn of {body['appId']}")
                apps.add(body["appId"])
                self.marks[body["appId"]] = body["version"]
            elif kind == "metaData":
                self.metadata = body
            elif kind == "protocol":
                self.protocol = body
        for kind in ("commitInfo", "metaData", "protocol"):
            if counts.get(kind, 0) > 1:
                finding("action", f"version {version} has {counts[kind]} {kind}")
        gone = {remove["path"] for remove in removes}
        for path in gone:
            if self.files.pop(path, None) is None:
                finding("remove", f"version {version} removes {path}, which is not live")
        for add in adds:
            if add["path"] in self.files or add["path"] in gone:
                finding("add", f"version {version} adds {add['path']} a second time")
            if set(add["partitionValues"]) != set(self.metadata["partitionColumns"]):
                finding("partition", f"version {version} {add['path']} has partition values for {sorted(add['partitionValues'])}")
            self.files[add["path"]] = add
        return adds, removes


def comparable(value):
    if isinstance(value, datetime.datetime):
        utc = value if value.tzinfo is not None else value.replace(tzinfo=datetime.timezone.utc)
        return (utc - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, str):
        return value.encode("utf-8")
    return value


def bound(stat, sample):
    """A bound of the statistics in the form of the values it bounds."""
    if isinstance(sample, datetime.datetime):
        return comparable(datetime.datetime.fromisoformat(stat.replace("Z", "+00:00")))
    if isinstance(sample, str):
        return stat.encode("utf-8")
    if isinstance(sample, decimal.Decimal):
        return decimal.Decimal(str(stat))
    return stat


def check_file(root, add):
    path = os.path.join(root, urllib.parse.unquote(add["path"]))
    if not os.path.exists(path):
        return finding("file", f"{add['path']} does not exist")
    if os.path.getsize(path) != add["size"]:
        finding("file", f"{add['path']} has {os.path.getsize(path)} bytes, not {add['size']}")
    table = pq.ParquetFile(path).read()
    stats = json.loads(add.get("stats") or "{}", parse_float=decimal.Decimal)
    if stats.get("numRecords", table.num_rows) != table.num_rows:
        finding("stats", f"{add['path']} has {table.num_rows} rows, numRecords is {stats['numRecords']}")
    for name in table.column_names:
        column = table.column(name)
        nulls = stats.get("nullCount", {}).get(name)
        if isinstance(nulls, int) and nulls != column.null_count:
            finding("stats", f"{add['path']} {name} has {column.null_count} nulls, nullCount is {nulls}")
        if pa.types.is_nested(column.type) or column.null_count == len(column):
            continue
        values = [value for value in column.to_pylist() if value is not None and not (isinstance(value, float) and math.isnan(value))]
        keys = [comparable(value) for value in values]
        # Readers allow for the millisecond that timestamps are cut to.
        slack = 999 if isinstance(values[0], datetime.datetime) else 0
        low, high = stats.get("minValues", {}).get(name), stats.get("maxValues", {}).get(name)
        if low is not None and bound(low, values[0]) > min(keys):
            finding("stats", f"{add['path']} {name} has minimum {min(values)}, its bound is {low}")
        if high is not None and (bound(high, values[0]) + slack if slack else bound(high, values[0])) < max(keys):
            finding("stats", f"{add['path']} {name} has maximum {max(values)}, its bound is {high}")
    return None


def rows_of(root, adds):
    """The rows of files as sorted texts, partition values included."""
    found = []
    for add in adds:
        table = pq.ParquetFile(os.path.join(root, urllib.parse.unquote(add["path"]))).read()
        found += [repr((sorted(add["partitionValues"].items()), row)) for row in table.to_pylist()]
    return sorted(found)


def check_checkpoint(path, version, state):
    rows = pq.ParquetFile(path).read().to_pylist()
    adds = {row["add"]["path"] for row in rows if row.get("add")}
    if adds != set(state.files):
        finding("checkpoint", f"version {version} has {len(adds)} files, the log {len(state.files)}")
    marks = {row["txn"]["appId"]: row["txn"]["version"] for row in rows if row.get("txn")}
    if marks != state.marks:
        finding("checkpoint", f"version {version} has marks {marks}, the log {state.marks}")
    for kind in ("metaData", "protocol"):
        if sum(1 for row in rows if row.get(kind)) != 1:
            finding("checkpoint", f"version {version} has not exactly one {kind}")


def check_checksum(path, version, state):
    with open(path, encoding="utf-8") as file:
        checksum = json.load(file)
    expected = {"numFiles": len(state.files), "tableSizeBytes": sum(add["size"] for add in state.files.values()), "numMetadata": 1, "numProtocol": 1}
    for name, value in expected.items():
        if checksum.get(name) != value:
            finding("checksum", f"version {version} {name} is {checksum.get(name)}, the log says {value}")


def check_changes(root, version, actions):
    for action in actions:
        if "cdc" in action:
            table = pq.ParquetFile(os.path.join(root, urllib.parse.unquote(action["cdc"]["path"]))).read(["_change_type"])
            unknown = set(pc.unique(table.column("_change_type")).to_pylist()) - CHANGE_TYPES
            if unknown:
                finding("changes", f"version {version} has change types {unknown}")


def main():
    root = os.path.abspath(sys.argv[1])
    log = os.path.join(root, "_delta_log")
    names = sorted(name for name in os.listdir(log) if COMMIT.match(name))
    state, seen = State(), {"checkpoints": 0, "checksums": 0, "files": 0, "rewrites": 0}
    for index, name in enumerate(names):
        version = int(COMMIT.match(name).group(1))
        if version != index:
            finding("version", f"version {index} is missing")
        actions = parse_file(os.path.join(log, name))
        before = dict(state.files)
        adds, removes = state.apply(version, actions)
        check_changes(root, version, actions)
        for add in adds:
            check_file(root, add)
            seen["files"] += 1
        if removes and not any(action["dataChange"] for action in adds + removes):
            seen["rewrites"] += 1
            if rows_of(root, [before[remove["path"]] for remove in removes if remove["path"] in before]) != rows_of(root, adds):
                finding("rewrite", f"version {version} claims to change no data and changes rows")
        checkpoint = os.path.join(log, f"{version:020}.checkpoint.parquet")
        if os.path.exists(checkpoint):
            check_checkpoint(checkpoint, version, state)
            seen["checkpoints"] += 1
        checksum = os.path.join(log, f"{version:020}.crc")
        if os.path.exists(checksum):
            check_checksum(checksum, version, state)
            seen["checksums"] += 1
    last = os.path.join(log, "_last_checkpoint")
    if os.path.exists(last):
        with open(last, encoding="utf-8") as file:
            version = json.load(file)["version"]
        if not glob.glob(os.path.join(log, f"{version:020}.checkpoint*")):
            finding("checkpoint", f"_last_checkpoint names version {version}, which has none")
    for text in findings:
        print(text)
    print(json.dumps({"versions": len(names), "violations": len(findings), **seen}))
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
