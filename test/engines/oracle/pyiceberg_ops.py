"""What pyiceberg does to tables of a catalog, asked for as data: {"catalog": {"name": ..., ...}, "table": "db.t", "op": ..., ...}."""
import time

import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.types import DecimalType, DoubleType, LongType, StringType

TYPES = {"string": StringType(), "long": LongType(), "double": DoubleType(), "decimal": DecimalType(10, 2)}
# pyiceberg leaves it to its caller to try again after another writer was first.
MAX_ATTEMPTS = 20


def catalog(a):
    properties = dict(a["catalog"])
    return load_catalog(properties.pop("name"), **properties)


def arrow(table, rows):
    return pa.Table.from_pylist(rows, schema=table.schema().as_arrow())


def create(a):
    schema = Schema.model_validate(a["schema"])
    spec = PartitionSpec.model_validate(a["spec"]) if "spec" in a else UNPARTITIONED_PARTITION_SPEC
    catalog(a).create_table(a["table"], schema, partition_spec=spec, properties=a.get("properties", {}))


def append_copy(table, a):
    table.append(table.scan().to_arrow())


def append(table, a):
    table.append(arrow(table, a["rows"]), branch=a.get("branch", "main"))


def overwrite(table, a):
    table.overwrite(arrow(table, a["rows"]), overwrite_filter=a["filter"])


def dynamic_overwrite(table, a):
    table.dynamic_partition_overwrite(arrow(table, a["rows"]))


def delete(table, a):
    table.delete(a["filter"])


def upsert(table, a):
    table.upsert(arrow(table, a["rows"]), join_cols=a["keys"])


def add_column(table, a):
    with table.update_schema() as update:
        update.add_column(a["name"], TYPES[a["type"]])


def rename_column(table, a):
    with table.update_schema() as update:
        update.rename_column(a["name"], a["to"])


def add_partition(table, a):
    with table.update_spec() as update:
        update.add_identity(a["name"])


def tag(table, a):
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, a["name"]).commit()


def expire(table, a):
    table.maintenance.expire_snapshots().older_than(a["olderThan"]).commit()


def set_properties(table, a):
    with table.transaction() as transaction:
        transaction.set_properties(a["properties"])


def view(a):
    """What pyiceberg sees of a view, and of the views beside it."""
    of = catalog(a)
    found = of.load_view(a["table"])
    version = found.current_version()
    return {
        "names": [name[-1] for name in of.list_views(a["table"].rsplit(".", 1)[0])],
        "sql": [representation.root.sql for representation in version.representations],
        "columns": [field.name for field in found.schema().fields],
        "versions": len(found.metadata.versions),
        "properties": found.metadata.properties,
    }


OPERATIONS = (append, append_copy, overwrite, dynamic_overwrite, delete, upsert, add_column, rename_column, add_partition, tag, expire, set_properties)
BY_NAME = {operation.__name__: operation for operation in OPERATIONS}


def run(a):
    if a["op"] == "create":
        create(a)
        return [{}]
    if a["op"] == "view":
        return [view(a)]
    attempt = 0
    while True:
        try:
            BY_NAME[a["op"]](catalog(a).load_table(a["table"]), a)
            return [{}]
        except CommitFailedException:
            attempt += 1
            if attempt == MAX_ATTEMPTS:
                raise
            time.sleep(0.05 * attempt)
