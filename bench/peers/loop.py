"""The loop a careful Python user would write: librdkafka -> Arrow JSON reader -> delta-rs append, offsets in the same commit.

loop.py create TABLE
loop.py run BROKERS TOPIC TABLE INTERVAL_SECONDS MAX_ROWS
loop.py upsert BROKERS TOPIC TABLE INTERVAL_SECONDS MAX_ROWS      the last row of each order_id of a batch by MERGE, which copies files
"""

import sys
import time

import pyarrow as pa
import pyarrow.json as pj
from confluent_kafka import Consumer, TopicPartition
from deltalake import CommitProperties, DeltaTable, Transaction, WriterProperties, write_deltalake

ADDRESS = pa.struct([(name, pa.string()) for name in ("street", "city", "zip", "country")])


def schema(zone):
    return pa.schema(
        [
            ("order_id", pa.int64()),
            ("customer_id", pa.int64()),
            ("amount", pa.float64()),
            ("status", pa.string()),
            ("ts", pa.timestamp("us", tz=zone)),
            ("address", ADDRESS),
            ("tags", pa.list_(pa.string())),
        ]
    )


def append(table, batch, options):
    write_deltalake(table, batch, mode="append", **options)


def upsert(table, batch, options):
    numbered = batch.append_column("_i", pa.array(range(batch.num_rows), pa.int64()))
    last = numbered.group_by("order_id").aggregate([("_i", "max")])["_i_max"]
    merge = table.merge(batch.take(last), "t.order_id = u.order_id", source_alias="u", target_alias="t", **options)
    merge.when_matched_update_all().when_not_matched_insert_all().execute()


def run(write, brokers, topic, location, interval, max_rows):
    consumer = Consumer(
        {
            "bootstrap.servers": brokers,
            "group.id": "peer-loop",
            "enable.auto.commit": False,
            "fetch.min.bytes": 1,
            "fetch.message.max.bytes": 4 << 20,
            # Without these librdkafka stops fetching while its queue holds 100,000 records or 64 MB, and then waits a second: the loop idles.
            "queued.min.messages": 1_000_000,
            "queued.max.messages.kbytes": 256 << 10,
            "fetch.queue.backoff.ms": 5,
        }
    )
    table = DeltaTable(location)
    partitions = consumer.list_topics(topic, 30).topics[topic].partitions
    position = {p: (table.transaction_version(f"{topic}-{p}") or -1) + 1 for p in partitions}
    consumer.assign([TopicPartition(topic, p, offset) for p, offset in position.items()])
    writer = WriterProperties(compression="ZSTD", compression_level=3)
    parse = pj.ParseOptions(explicit_schema=schema(None), unexpected_field_behavior="ignore")
    read = pj.ReadOptions(block_size=8 << 20)
    rows = []
    flushed = time.monotonic()
    while True:
        wait = interval - (time.monotonic() - flushed)
        for message in consumer.consume(10_000, max(0.01, min(0.1, wait))):
            if message.error():
                raise SystemExit(str(message.error()))
            rows.append(message.value())
            position[message.partition()] = message.offset() + 1
        age = time.monotonic() - flushed
        if rows and (age >= interval or len(rows) >= max_rows):
            batch = pj.read_json(pa.BufferReader(b"\n".join(rows)), read_options=read, parse_options=parse).cast(schema("UTC"))
            marks = [Transaction(f"{topic}-{p}", offset - 1) for p, offset in position.items() if offset > 0]
            write(table, batch, {"writer_properties": writer, "commit_properties": CommitProperties(app_transactions=marks)})
            rows = []
            flushed = time.monotonic()
        elif not rows and age >= interval:
            # The first record after a pause is not kept waiting.
            flushed = time.monotonic() - interval


if sys.argv[1] == "create":
    DeltaTable.create(sys.argv[2], schema("UTC"))
else:
    write = {"run": append, "upsert": upsert}[sys.argv[1]]
    run(write, sys.argv[2], sys.argv[3], sys.argv[4], float(sys.argv[5]), int(sys.argv[6]))
