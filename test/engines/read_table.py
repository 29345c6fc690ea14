"""What another engine sees in a Delta table.

usage: read_table.py ENGINE TABLE OUT [VERSION]      ENGINE: delta-rs | duckdb | spark

Writes rows.jsonl (of VERSION, default the newest), and where the engine can, changes.jsonl (versions 0 to the newest) and history.jsonl below OUT:
one JSON object a line, in no particular order. Timestamps are ISO 8601 with six digits and Z, decimals text, binary hex; longs outside +-(2^53-1) text.
"""

import atexit
import datetime
import decimal
import glob
import importlib
import json
import os
import shutil
import sys
import tempfile

import pyarrow as pa

SAFE = 2**53 - 1


def plain(value):
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.%f") + ("Z" if value.tzinfo is not None else "")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    return value if -SAFE <= value <= SAFE else str(value)


def write(out, name, rows):
    with open(os.path.join(out, name + ".jsonl"), "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps({key: plain(value) for key, value in row.items()}, ensure_ascii=False) + "\n")


def arrow_rows(table):
    """Rows of an Arrow table, every timestamp with a zone in UTC."""
    columns = []
    for column in table.columns:
        if pa.types.is_timestamp(column.type) and column.type.tz is not None:
            column = column.cast(pa.timestamp("us", "UTC"))
        columns.append(column.to_pylist())
    return (dict(zip(table.column_names, row)) for row in zip(*columns))


def delta_rs(path, out, version):
    from deltalake import DeltaTable, QueryBuilder

    table = DeltaTable(path, version=version)
    write(out, "rows", arrow_rows(pa.table(QueryBuilder().register("t", table).execute("select * from t").read_all())))
    newest = DeltaTable(path)
    write(out, "history", ({"version": entry["version"], "operation": entry["operation"]} for entry in newest.history()))
    write(out, "changes", arrow_rows(pa.table(newest.load_cdf(starting_version=0).read_all())))


def duckdb(path, out, version):
    import duckdb as engine

    connection = engine.connect(config={"autoinstall_known_extensions": "false"})
    connection.execute("set TimeZone='UTC'")
    package = os.path.dirname(importlib.import_module("duckdb_extension_delta").__file__)
    (extension,) = glob.glob(os.path.join(package, "**", "*.duckdb_extension"), recursive=True)
    connection.execute(f"load '{extension}'")
    at = "" if version is None else f", version => {version}"
    result = connection.execute(f"select * from delta_scan('{path}'{at})")
    write(out, "rows", arrow_rows(result.to_arrow_table() if hasattr(result, "to_arrow_table") else result.fetch_arrow_table()))


def spark_session():
    work = tempfile.mkdtemp(prefix="tidewater-spark-")
    atexit.register(shutil.rmtree, work, ignore_errors=True)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.pop("SPARK_HOME", None)
    os.environ["LC_ALL"] = os.environ["LANG"] = "C.UTF-8"
    from pyspark.sql import SparkSession

    settings = {
        "spark.jars": ",".join(sorted(glob.glob(os.path.join(os.environ["TIDEWATER_ENGINE_JARS"], "*.jar")))),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.warehouse.dir": os.path.join(work, "warehouse"),
        "spark.local.dir": os.path.join(work, "local"),
        "spark.driver.memory": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-Duser.timezone=UTC -Dderby.system.home={work} -XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local[2]").appName("tidewater-test")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def spark(path, out, version):
    session = spark_session()
    try:
        reader = session.read.format("delta")
        if version is not None:
            reader = reader.option("versionAsOf", version)
        write(out, "rows", arrow_rows(reader.load(path).toArrow()))
        history = session.sql(f"describe history delta.`{path}`").select("version", "operation")
        write(out, "history", (row.asDict() for row in history.collect()))
        changes = session.read.format("delta").option("readChangeFeed", "true").option("startingVersion", 0).load(path)
        write(out, "changes", arrow_rows(changes.toArrow()))
    finally:
        session.stop()


def main():
    engine, path, out = sys.argv[1:4]
    version = int(sys.argv[4]) if len(sys.argv) > 4 else None
    os.makedirs(out, exist_ok=True)
    {"delta-rs": delta_rs, "duckdb": duckdb, "spark": spark}[engine](os.path.abspath(path), out, version)


if __name__ == "__main__":
    main()
