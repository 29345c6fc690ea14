"""Folds feeds with Confluent's own client and deserializers, and prints of each an object {topic, rows} with the rows that are left, one a line.

Its one argument is JSON: brokers, registry, meanings {column: meaning}, and feeds, of each the topic, envelope (debezium, flat, after,
cloudevents-binary), encoding (json, json-schema, avro, protobuf) of values and keyEncoding. A meaning is date, timestamp_ntz, decimal, binary or map,
those of a struct's members, or a list with that of its items. Values of columns come in the spelling of the feed's JSON.
"""

import base64
import importlib
import json
import os
import subprocess
import sys
import tempfile
from datetime import date, datetime, timedelta
from decimal import Decimal, getcontext

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

decimal_proto = 'syntax = "proto3"; package confluent.type; message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }'


def main():
    # Of decimals of a table, all digits: Python's own context has 28.
    getcontext().prec = 38
    given = json.loads(sys.argv[1])
    registry = SchemaRegistryClient({"url": given["registry"]})
    for feed in given["feeds"]:
        rows = rows_of(registry, {**given, **feed})
        print(json.dumps({"topic": feed["topic"], "rows": [spelled(row, given["meanings"]) for row in rows]}))


def rows_of(registry, given):
    decoders = {
        MessageField.KEY: Decoder(registry, given, given["keyEncoding"], MessageField.KEY),
        MessageField.VALUE: Decoder(registry, given, given["encoding"], MessageField.VALUE),
    }
    rows = {}
    for message in messages_of(given):
        key = json.dumps(decoders[MessageField.KEY].decode(message.key()), sort_keys=True)
        fold(given["envelope"], rows, key, decoders[MessageField.VALUE].decode(message.value()))
    return rows.values()


def fold(envelope, rows, key, value):
    """What a record does to the rows; a tombstone says no more than the delete before it, but for upserts."""
    if value is None:
        rows.pop(key, None)
    elif envelope in ("debezium", "cloudevents-binary"):
        if value.get("after") is None:
            rows.pop(key, None)
        else:
            rows[key] = value["after"]
    elif envelope == "after":
        rows[key] = value
    else:
        kind = value.pop("_change_type")
        value.pop("_commit_version")
        value.pop("_commit_timestamp")
        if kind in ("insert", "update_postimage"):
            rows[key] = value
        elif kind == "delete":
            rows.pop(key, None)


def messages_of(given):
    """Every record that a read_committed consumer sees up to now."""
    consumer = Consumer(
        {
            "bootstrap.servers": given["brokers"],
            "group.id": "fold-" + given["topic"],
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    partitions = consumer.list_topics(given["topic"], timeout=30).topics[given["topic"]].partitions
    consumer.assign([TopicPartition(given["topic"], partition, 0) for partition in partitions])
    ended = set()
    while len(ended) < len(partitions):
        message = consumer.poll(30)
        if message is None:
            raise TimeoutError("the broker gives nothing")
        if message.error() is not None:
            ended.add(message.partition())
        else:
            yield message
    consumer.close()


class Decoder:
    def __init__(self, registry, given, encoding, field):
        self.registry = registry
        self.given = given
        self.encoding = encoding
        self.context = SerializationContext(given["topic"], field)
        self.part = "key" if field == MessageField.KEY else "value"
        self.deserializer = None

    def decode(self, data):
        if data is None:
            return None
        if self.encoding == "json":
            return json.loads(data)
        if self.deserializer is None:
            self.deserializer = self.make()
        value = self.deserializer(data, self.context)
        return plain_message(value) if self.encoding == "protobuf" else value

    def make(self):
        if self.encoding == "avro":
            return AvroDeserializer(self.registry)
        text = self.schema_text()
        if self.encoding == "json-schema":
            # Each record is checked against the schema that it names.
            return JSONDeserializer(text, schema_registry_client=self.registry)
        # Of the registry it would have descriptors, which this one does not give; the path to the message stands in the record.
        return ProtobufDeserializer(message_class(text), {"use.deprecated.format": False})

    def schema_text(self):
        """The newest of the subject: it reads what the ones before it wrote."""
        return self.registry.get_latest_version(f"{self.given['topic']}-{self.part}").schema.schema_str


def message_class(text):
    """Compiles a .proto file as a consumer's build does, and answers the class of its first message."""
    directory = tempfile.mkdtemp()
    name = f"feed_{abs(hash(text))}"
    os.makedirs(os.path.join(directory, "confluent", "type"))
    for path, content in ((f"{name}.proto", text), ("confluent/type/decimal.proto", decimal_proto)):
        with open(os.path.join(directory, path), "w", encoding="utf-8") as file:
            file.write(content)
    known = os.path.join(os.path.dirname(importlib.import_module("google.protobuf").__file__), "..", "..")
    files = [f"{name}.proto", "confluent/type/decimal.proto"]
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{directory}", f"-I{known}", f"--python_out={directory}", *files]
    subprocess.run(command, check=True, cwd=directory)
    sys.path.insert(0, directory)
    module = importlib.import_module(f"{name}_pb2")
    first = next(iter(module.DESCRIPTOR.message_types_by_name))
    return getattr(module, first)


def plain_message(message):
    """A message as a dict: fields without a value are None, lists and maps without their wrappers."""
    if message.DESCRIPTOR.full_name == "confluent.type.Decimal":
        unscaled = int.from_bytes(message.value, "big", signed=True)
        return Decimal(unscaled).scaleb(-message.scale)
    fields = message.DESCRIPTOR.fields
    if [field.name for field in fields] == ["items"]:
        return [plain_field(item) for item in message.items]
    if [field.name for field in fields] == ["value"]:
        return plain_field(message.value) if message.HasField("value") else None
    out = {}
    for field in fields:
        absent = field.has_presence and not message.HasField(field.name)
        out[field.name] = None if absent else plain_field(getattr(message, field.name))
    return out


def plain_field(value):
    return plain_message(value) if hasattr(value, "DESCRIPTOR") else value


def spelled(value, meaning):
    if value is None:
        return None
    if isinstance(meaning, dict):
        return {name: spelled(member, meaning.get(name)) for name, member in value.items()}
    if isinstance(meaning, list):
        return [spelled(item, meaning[0]) for item in value]
    if meaning == "decimal":
        return value if isinstance(value, str) else format(value, "f")
    if meaning == "binary":
        return base64.b64encode(value).decode() if isinstance(value, bytes) else value
    if meaning == "date" and isinstance(value, int):
        return (date(1970, 1, 1) + timedelta(days=value)).isoformat()
    if meaning == "timestamp_ntz" and isinstance(value, int):
        return (datetime(1970, 1, 1) + timedelta(microseconds=value)).isoformat(timespec="microseconds")
    if meaning == "map" and isinstance(value, list):
        return {str(entry["key"]): entry["value"] for entry in value}
    return value


if __name__ == "__main__":
    main()
