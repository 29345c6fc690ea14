"""A change feed as a user would write it: delta-rs change reader -> JSON -> librdkafka. Keeps no position: a restart repeats everything.

feed.py BROKERS TABLE TOPIC
"""

import sys

import orjson
import pyarrow as pa
from confluent_kafka import Producer
from deltalake import DeltaTable

brokers, location, topic = sys.argv[1:]
producer = Producer(
    {
        "bootstrap.servers": brokers,
        "compression.type": "lz4",
        "linger.ms": 20,
        "acks": "all",
        "enable.idempotence": True,
        "batch.size": 256 << 10,
        "queue.buffering.max.messages": 400_000,
    }
)
for batch in DeltaTable(location).load_cdf(starting_version=0):
    for row in pa.record_batch(batch).to_pylist():
        value = orjson.dumps(row)
        while True:
            try:
                producer.produce(topic, value, key=str(row["order_id"]))
                break
            except BufferError:
                producer.poll(0.05)
    producer.poll(0)
producer.flush()
