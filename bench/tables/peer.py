"""One case with another engine: peer.py delta-rs|spark CASE DATA_DIRECTORY TABLE. Prints when the work began and ended, and what came out."""

import json
import os
import sys
import time

engine, name, data, table = sys.argv[1:5]
here = os.path.dirname(os.path.abspath(__file__))
with open(f"{here}/statements.json") as text:
    statements = json.load(text)


def delta_rs():
    import pyarrow as pa
    import pyarrow.parquet as pq
    from deltalake import DeltaTable, QueryBuilder, WriterProperties

    properties = WriterProperties(compression="ZSTD", compression_level=1)

    def load():
        return {"files": len(DeltaTable(table).file_uris())}

    def scan():
        # Its SQL spells members of structs with brackets.
        sql = statements[name].replace("address.city", "address['city']").replace("address.zip", "address['zip']")
        result = pa.table(QueryBuilder().register("orders", DeltaTable(table)).execute(sql).read_all())
        [row] = result.select(["n", "customers"]).to_pylist()
        return row

    def merge():
        merger = DeltaTable(table).merge(
            pq.read_table(f"{data}/keys.parquet"), "t.order_id = s.order_id", source_alias="s", target_alias="t", writer_properties=properties
        )
        metrics = merger.when_matched_update_all().when_not_matched_insert_all().execute()
        return {"updated": metrics["num_target_rows_updated"], "inserted": metrics["num_target_rows_inserted"]}

    def update():
        metrics = DeltaTable(table).update(updates={"amount": statements["update"]["set"]}, predicate=statements["update"]["where"], writer_properties=properties)
        return {"rows": metrics["num_updated_rows"]}

    def delete():
        return {"rows": DeltaTable(table).delete(statements["delete"]["where"], writer_properties=properties)["num_deleted_rows"]}

    def optimize():
        metrics = DeltaTable(table).optimize.compact(target_size=1 << 30, writer_properties=properties, max_concurrent_tasks=2)
        return {"removed": metrics["numFilesRemoved"]}

    def vacuum():
        DeltaTable(table).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False, full=True)
        return {}

    def changes():
        count, ids = 0, 0
        import pyarrow.compute as pc

        for batch in DeltaTable(table).load_cdf(starting_version=4):
            batch = pa.record_batch(batch)
            count += batch.num_rows
            ids += pc.sum(batch.column("order_id")).as_py()
        return {"n": count, "ids": ids}

    return {
        "load-log": load, "load-checkpoint": load, "count": lambda: {"n": DeltaTable(table).count()}, "scan-full": scan, "scan-selective": scan, "merge-copy": merge, "merge-vectors": merge,
        "update": update, "delete": delete, "optimize": optimize, "vacuum": vacuum, "changes": changes,
    }[name]


def spark():
    sys.path.insert(0, f"{here}/../../test/engines/oracle")
    import spark_session

    session = spark_session.build(extra={"spark.databricks.delta.retentionDurationCheck.enabled": "false"})
    session.sql("SELECT 1").collect()
    at = f"delta.`{table}`"

    def first(sql):
        return session.sql(sql).collect()[0]

    def scan():
        row = first(statements[name].replace("orders", at))
        return {"n": row.n, "customers": row.customers}

    def merge():
        session.read.parquet(f"{data}/keys.parquet").createOrReplaceTempView("keys")
        row = first(f"MERGE INTO {at} t USING keys s ON t.order_id = s.order_id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
        return {"updated": row.num_updated_rows, "inserted": row.num_inserted_rows}

    def changes():
        session.read.format("delta").option("readChangeFeed", "true").option("startingVersion", 4).load(table).createOrReplaceTempView("changes")
        row = first(
            "SELECT count(*) AS n, sum(order_id) AS ids, max(customer_id), sum(amount), max(status), max(ts), max(address.street), max(address.city), "
            "max(address.zip), max(address.country), sum(size(tags)), max(_change_type) FROM changes"
        )
        return {"n": row.n, "ids": row.ids}

    return {
        "load-log": lambda: {"files": first(f"DESCRIBE DETAIL {at}").numFiles},
        "load-checkpoint": lambda: {"files": first(f"DESCRIBE DETAIL {at}").numFiles},
        "count": lambda: {"n": first(f"SELECT count(*) AS n FROM {at}").n},
        "scan-full": scan,
        "scan-selective": scan,
        "merge-copy": merge,
        "merge-vectors": merge,
        "update": lambda: {"rows": first(f"UPDATE {at} SET amount = {statements['update']['set']} WHERE {statements['update']['where']}").num_affected_rows},
        "delete": lambda: {"rows": first(f"DELETE FROM {at} WHERE {statements['delete']['where']}").num_affected_rows},
        "optimize": lambda: {"removed": first(f"OPTIMIZE {at}").metrics.numFilesRemoved},
        "vacuum": lambda: [session.sql(f"VACUUM {at} RETAIN 0 HOURS").collect(), {}][1],
        "changes": changes,
    }[name]


work = spark() if engine == "spark" else delta_rs()
began = time.time()
check = work()
ended = time.time()
print("RESULT " + json.dumps({"beganMs": began * 1000, "endedMs": ended * 1000, "check": check}), flush=True)
if engine == "spark":
    os._exit(0)
