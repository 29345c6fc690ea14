import { assertNever } from '../../base/assert.ts';
import { isJsonObject, type JsonValue } from '../../base/bigint-json.ts';
import type { AvroRecord, AvroType } from './avro-type.ts';
import { ByteSink } from './byte-sink.ts';

/**
 * The bytes of a default, which a schema has as JSON (Avro specification, "Complex Types", table of field default values). Of a union the
 * first branch that takes it counts. `undefined`: it is no value of the type.
 */
export function defaultBytes(type: AvroType, value: JsonValue): Uint8Array | undefined {
  const sink = new ByteSink(64);
  return write(type, value, sink) ? sink.take() : undefined;
}

/** Whether the value is one of the type; of one that is not, part may have been written. */
function write(type: AvroType, value: JsonValue, sink: ByteSink): boolean {
  switch (type.kind) {
    case 'null':
      return value === null;
    case 'boolean':
      if (typeof value !== 'boolean') return false;
      sink.byte(value ? 1 : 0);
      return true;
    case 'int':
    case 'long':
      return writeInteger(type.kind === 'int' ? 32 : 64, value, sink);
    case 'float':
    case 'double':
      if (typeof value !== 'number' && typeof value !== 'bigint') return false;
      if (type.kind === 'float') sink.float(Number(value));
      else sink.double(Number(value));
      return true;
    case 'string':
      if (typeof value !== 'string') return false;
      sink.text(value);
      return true;
    case 'bytes':
    case 'fixed':
      return writeBytes(type.kind === 'fixed' ? type.size : undefined, value, sink);
    case 'enum': {
      const index = typeof value === 'string' ? type.symbols.indexOf(value) : -1;
      if (index < 0) return false;
      sink.int(index);
      return true;
    }
    case 'record':
      return writeRecord(type, value, sink);
    case 'array':
      return Array.isArray(value) && writeItems(value as readonly JsonValue[], sink, (item) => write(type.items, item, sink));
    case 'map':
      return (
        isJsonObject(value) &&
        writeItems(Object.entries(value), sink, ([key, entry]) => {
          sink.text(key);
          return entry !== undefined && write(type.values, entry, sink);
        })
      );
    case 'union': {
      const start = sink.length;
      return type.branches.some((branch, index) => {
        sink.truncate(start);
        sink.int(index);
        return write(branch, value, sink);
      });
    }
    default:
      return assertNever(type);
  }
}

function writeInteger(bits: number, value: JsonValue, sink: ByteSink): boolean {
  if (typeof value !== 'bigint' && !Number.isInteger(value)) return false;
  const integer = BigInt(value as number | bigint);
  if (BigInt.asIntN(bits, integer) !== integer) return false;
  sink.long(integer);
  return true;
}

/** Each byte is the character of its number. */
function writeBytes(size: number | undefined, value: JsonValue, sink: ByteSink): boolean {
  if (typeof value !== 'string' || /[^\0-\xff]/.test(value)) return false;
  const bytes = Buffer.from(value, 'latin1');
  if (size === undefined) sink.bytes(bytes);
  else sink.fixed(bytes);
  return size === undefined || bytes.length === size;
}

/** Members that the default leaves out have the defaults of their own fields. */
function writeRecord(type: AvroRecord, value: JsonValue, sink: ByteSink): boolean {
  if (!isJsonObject(value)) return false;
  return type.fields.every((field) => {
    const member = Object.hasOwn(value, field.name) ? value[field.name] : field.default;
    return member !== undefined && write(field.type, member, sink);
  });
}

function writeItems<T>(items: readonly T[], sink: ByteSink, writeItem: (item: T) => boolean): boolean {
  if (items.length > 0) sink.int(items.length);
  const whole = items.every(writeItem);
  sink.byte(0);
  return whole;
}
