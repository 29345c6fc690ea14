"""What delta-rs does to tables, asked for as data: {"op": "append", "rows": [...], ...}. Each answers with a list of metrics."""
import random
import time

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError

TYPES = {"string": pa.string(), "long": pa.int64(), "integer": pa.int32(), "double": pa.float64(), "boolean": pa.bool_(), "date": pa.date32()}
# Winning and losing engines retry from the newest version; a loser of many races in a row is a fault of the test.
MAX_ATTEMPTS = 200


def arrow(a):
    """Rows of the types given as {"name": "long"}; without types they are inferred."""
    rows, types = a["rows"], a.get("types")
    if types is None:
        return pa.Table.from_pylist(rows)
    schema = pa.schema([pa.field(name, TYPES[kind]) for name, kind in types.items()])
    return pa.Table.from_arrays([column([row.get(f.name) for row in rows], f.type) for f in schema], schema=schema)


def column(values, kind):
    # Dates are given as days since 1970.
    return pa.array(values, pa.int32()).cast(kind) if kind == pa.date32() else pa.array(values, kind)


def write(a, mode):
    write_deltalake(
        a["path"], arrow(a), mode=mode, partition_by=a.get("partitionBy"), configuration=a.get("configuration"),
        schema_mode=a.get("schemaMode"), predicate=a.get("predicate"))
    return {}


def merge(a):
    merger = DeltaTable(a["path"]).merge(arrow(a), predicate=a["predicate"], source_alias="s", target_alias="t")
    if a.get("deleteWhen"):
        merger = merger.when_matched_delete(predicate=a["deleteWhen"])
    return merger.when_matched_update_all().when_not_matched_insert_all().execute()


def append_many(a):
    """Appends one row (writer, n) after another, each as a version, while others write. Conflicts are counted and tried again."""
    lost = 0
    schema = pa.schema([pa.field("writer", pa.int32()), pa.field("n", pa.int32())])
    for n in range(a["count"]):
        rows = pa.Table.from_pylist([{"writer": a["writer"], "n": n}], schema=schema)
        for _ in range(MAX_ATTEMPTS):
            try:
                write_deltalake(a["path"], rows, mode="append")
                break
            except CommitFailedError:
                lost += 1
                time.sleep(random.uniform(0.001, 0.02))
        else:
            raise RuntimeError("%d attempts to append were lost" % MAX_ATTEMPTS)
    return {"done": a["count"], "lost": lost}


def constrain(a):
    DeltaTable(a["path"]).alter.add_constraint(a["constraints"])
    return {}


def set_properties(a):
    DeltaTable(a["path"]).alter.set_table_properties(a["properties"])
    return {}


def checkpoint(a):
    DeltaTable(a["path"]).create_checkpoint()
    return {}


OPERATIONS = {
    "append": lambda a: write(a, "append"),
    "overwrite": lambda a: write(a, "overwrite"),
    "delete": lambda a: DeltaTable(a["path"]).delete(a.get("predicate")),
    "update": lambda a: DeltaTable(a["path"]).update(updates=a["set"], predicate=a.get("predicate")),
    "merge": merge,
    "compact": lambda a: DeltaTable(a["path"]).optimize.compact(),
    "z_order": lambda a: DeltaTable(a["path"]).optimize.z_order(a["columns"]),
    "restore": lambda a: DeltaTable(a["path"]).restore(a["version"]),
    "checkpoint": checkpoint,
    "add_constraint": constrain,
    "set_properties": set_properties,
    "append_many": append_many,
}


def run(a):
    metrics = OPERATIONS[a["op"]](a) or {}
    return [{key: str(value) for key, value in metrics.items()}]

