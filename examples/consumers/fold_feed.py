"""The rows of a table from its change feed, with confluent-kafka: python fold_feed.py <brokers> <topic>

Reads a feed in the debezium envelope, encoding json, up to now and prints the rows that the table has, one JSON object a line.
"""

import json
import sys

from confluent_kafka import Consumer, TopicPartition


def fold(rows, message):
    """What one record does to the rows, which are held by the bytes of their key."""
    if message.value() is None:
        return  # A tombstone: the delete before it told all that there is.
    # Decimals are text, so only doubles are made of JSON's numbers; integers have all their digits.
    event = json.loads(message.value())
    if event["op"] == "d":
        rows.pop(message.key(), None)
    else:
        rows[message.key()] = event["after"]


def main(brokers, topic):
    consumer = Consumer(
        {
            "bootstrap.servers": brokers,
            "group.id": f"fold-{topic}",
            # Rows of transactions that were given up are not seen.
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
    consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
    rows, ended = {}, set()
    while len(ended) < len(partitions):
        message = consumer.poll(30)
        if message is None:
            sys.exit("the broker gives nothing")
        if message.error() is not None:
            ended.add(message.partition())
        else:
            fold(rows, message)
    consumer.close()
    for row in rows.values():
        print(json.dumps(row))


if __name__ == "__main__":
    main(*sys.argv[1:])
