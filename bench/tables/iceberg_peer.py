"""One case of Iceberg with another engine: iceberg_peer.py pyiceberg|duckdb|spark CASE DIRECTORY. Prints when the work began and ended, and what came out."""

import json
import os
import sqlite3
import statistics
import sys
import time

engine, name, directory = sys.argv[1:4]
here = os.path.dirname(os.path.abspath(__file__))
with open(f"{here}/statements.json") as text:
    statements = json.load(text)
COMMITS = 20
times = []


def appends(commit):
    def run():
        for _ in range(COMMITS):
            begun = time.perf_counter()
            commit()
            times.append((time.perf_counter() - begun) * 1000)
        return {"commits": COMMITS}

    return run


def pyiceberg():
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("lake", uri=f"sqlite:///{directory}/catalog.db", warehouse=f"file://{directory}/warehouse")

    def table():
        return catalog.load_table("bench.orders")

    def files():
        tasks = list(table().scan().plan_files())
        return {"files": len(tasks), "records": sum(task.file.record_count for task in tasks)}

    def full():
        rows = table().scan(selected_fields=("customer_id", "amount", "status", "address.city", "address.zip")).to_arrow()
        address = rows["address"].combine_chunks()
        pc.sum(rows["amount"]), pc.max(rows["status"]), pc.max(pc.struct_field(address, "city")), pc.count_distinct(pc.struct_field(address, "zip"))
        return {"n": rows.num_rows, "customers": pc.sum(rows["customer_id"]).as_py()}

    def selective():
        rows = table().scan(row_filter="order_id >= 120000 and order_id <= 121000", selected_fields=("customer_id", "amount")).to_arrow()
        pc.sum(rows["amount"])
        return {"n": rows.num_rows, "customers": pc.sum(rows["customer_id"]).as_py()}

    def merge():
        table().upsert(pq.read_table(f"{directory}/keys.parquet"), join_cols=["order_id"])
        return {}

    schema = pa.schema(
        [("order_id", pa.int64()), ("customer_id", pa.int64()), ("amount", pa.float64()), ("status", pa.string()), ("ts", pa.timestamp("us", "UTC")),
         ("address", pa.struct([(member, pa.string()) for member in ("street", "city", "zip", "country")])), ("tags", pa.list_(pa.string()))]
    )  # fmt: skip
    address = {"street": "1 Main Street", "city": "Oslo", "zip": "00001", "country": "NO"}
    row = {"order_id": -1, "customer_id": 1, "amount": 0.5, "status": "paid", "ts": 1767225600000000, "address": address, "tags": ["gift"]}
    append = appends(lambda: table().append(pa.Table.from_pylist([row], schema=schema)))

    return {
        "iceberg-load": lambda: {"snapshots": len(table().metadata.snapshots)},
        "iceberg-files": files,
        "iceberg-count": lambda: {"n": table().scan().count()},
        "iceberg-plan": selective,
        "iceberg-scan-full": full,
        "iceberg-scan-selective": selective,
        "iceberg-append-10": append,
        "iceberg-append-1000": append,
        "iceberg-merge-copy": merge,
    }[name]


def duckdb():
    import duckdb

    connection = duckdb.connect(config={"threads": 2})
    for extension in ("avro", "iceberg"):
        load_extension(connection, extension)
    [[location]] = sqlite3.connect(f"{directory}/catalog.db").execute("SELECT metadata_location FROM iceberg_tables").fetchall()
    location = location.removeprefix("file://")

    def first(sql):
        result = connection.execute(sql)
        return dict(zip([column[0] for column in result.description], result.fetchone()))

    def scan(statement):
        row = first(statements[statement].replace("orders", f"iceberg_scan('{location}')"))
        return {"n": row["n"], "customers": int(row["customers"])}

    def files():
        return first(f"SELECT count(*) AS files, sum(record_count)::BIGINT AS records FROM iceberg_metadata('{location}') WHERE status <> 'DELETED'")

    return {
        "iceberg-load": lambda: first(f"SELECT count(*) AS snapshots FROM iceberg_snapshots('{location}')"),
        "iceberg-files": files,
        "iceberg-count": lambda: first(f"SELECT count(*) AS n FROM iceberg_scan('{location}')"),
        "iceberg-plan": lambda: scan("scan-selective"),
        "iceberg-scan-full": lambda: scan("scan-full"),
        "iceberg-scan-selective": lambda: scan("scan-selective"),
    }[name]


def load_extension(connection, extension):
    """From the package that carries it: nothing is fetched."""
    import importlib

    module = importlib.import_module(f"duckdb_extension_{extension}")
    found = [os.path.join(root, file) for root, _, files in os.walk(os.path.dirname(module.__file__)) for file in files if file.startswith(f"{extension}.duckdb_extension")]
    connection.execute(f"LOAD '{found[0]}'")


def spark():
    sys.path.insert(0, f"{here}/../../test/engines/oracle")
    import spark_session

    session = spark_session.build(
        extra={
            "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.lake.type": "jdbc",
            "spark.sql.catalog.lake.uri": f"jdbc:sqlite:file:{directory}/catalog.db",
            "spark.sql.catalog.lake.warehouse": f"file://{directory}/warehouse",
            "spark.sql.catalog.lake.cache-enabled": "false",
        }
    )
    session.sql("SELECT 1").collect()
    at = "lake.bench.orders"

    def first(sql):
        return session.sql(sql).collect()[0]

    def files():
        row = first(f"SELECT count(*) AS n, sum(record_count) AS records FROM {at}.files")
        return {"files": row.n, "records": row.records}

    def scan(statement):
        row = first(statements[statement].replace("orders", at))
        return {"n": row.n, "customers": row.customers}

    def merge():
        session.read.parquet(f"{directory}/keys.parquet").createOrReplaceTempView("keys")
        session.sql(f"MERGE INTO {at} t USING keys s ON t.order_id = s.order_id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *").collect()
        return {}

    def compact():
        return {"removed": first("CALL lake.system.rewrite_data_files(table => 'bench.orders')").rewritten_data_files_count}

    def expire():
        row = first("CALL lake.system.expire_snapshots(table => 'bench.orders', older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1)")
        return {"files": row.deleted_data_files_count, "lists": row.deleted_manifest_lists_count}

    append = appends(lambda: session.sql(statements["append"].replace("orders", at)))

    return {
        "iceberg-load": lambda: {"snapshots": first(f"SELECT count(*) AS n FROM {at}.snapshots").n},
        "iceberg-files": files,
        "iceberg-count": lambda: {"n": first(f"SELECT count(*) AS n FROM {at}").n},
        "iceberg-plan": lambda: scan("scan-selective"),
        "iceberg-scan-full": lambda: scan("scan-full"),
        "iceberg-scan-selective": lambda: scan("scan-selective"),
        "iceberg-append-10": append,
        "iceberg-append-1000": append,
        "iceberg-merge-copy": merge,
        "iceberg-merge-read": merge,
        "iceberg-compact": compact,
        "iceberg-expire": expire,
    }[name]


work = {"pyiceberg": pyiceberg, "duckdb": duckdb, "spark": spark}[engine]()
began = time.time()
check = work()
ended = time.time()
result = {"beganMs": began * 1000, "endedMs": ended * 1000, "check": check}
if times:
    result["medianMs"] = statistics.median_low(times)
print("RESULT " + json.dumps(result), flush=True)
if engine == "spark":
    os._exit(0)
