"""Appends rows to a Delta table in an object store with delta-rs, one commit each, and prints the ids it then reads, in order.

append_in_bucket.py LOCATION OPTIONS_JSON FROM UNTIL
"""

import json
import os
import sys

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

location, options, first, last = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
for number in range(first, last):
    rows = pa.table({"id": pa.array([number], pa.int64()), "p": pa.array(["delta-rs"])})
    write_deltalake(location, rows, mode="append", storage_options=options)
table = DeltaTable(location, storage_options=options)
print(json.dumps(sorted(table.to_pyarrow_table()["id"].to_pylist())), flush=True)
# The libraries' threads sometimes end an interpreter that shuts down in good order.
os._exit(0)
