import type { AvroRecord, AvroType } from '../../codec/avro/avro-type.ts';
import type { ByteCursor } from '../../codec/avro/byte-cursor.ts';
import { leastBytes, valueSkipper } from '../../codec/avro/skip-values.ts';

/** Reads a field's value; `undefined` for null. */
export type Read<T> = (cursor: ByteCursor) => T | undefined;

/** Reads one field of a record and puts it to where it belongs. */
export type FieldStep<Target> = (cursor: ByteCursor, target: Target) => void;

/** What is done with the fields that are known, by id, once the type is known that the writer has for them. */
export type FieldSteps<Target> = Readonly<Record<number, (type: AvroType) => FieldStep<Target>>>;

/**
 * Reads a record field by field in file order. A field is known by the id the writer gave it, else by its name or one of the names it had
 * before; others are passed over.
 */
export function recordSteps<Target>(
  record: AvroRecord,
  idsByName: Readonly<Record<string, number>>,
  steps: FieldSteps<Target>,
): readonly FieldStep<Target>[] {
  return record.fields.map(({ fieldId, name, type }) => steps[fieldId ?? idsByName[name] ?? -1]?.(type) ?? valueSkipper(type));
}

/** A step that sets what was read. */
export function into<Target, Value>(
  readerOf: (type: AvroType) => Read<Value>,
  set: (target: Target, value: Value | undefined, cursor: ByteCursor) => unknown,
): (type: AvroType) => FieldStep<Target> {
  return (type) => {
    const read = readerOf(type);
    return (cursor, target) => {
      set(target, read(cursor), cursor);
    };
  };
}

/** A reader of a type and of null, where the writer's type allows it. */
export function optionalReader<T>(type: AvroType, readerOf: (type: AvroType) => (cursor: ByteCursor) => T | undefined): Read<T> {
  if (type.kind === 'null') return freeNull;
  if (type.kind !== 'union') return readerOf(type);
  const branches = type.branches.map((branch) => (branch.kind === 'null' ? undefined : readerOf(branch)));
  return (cursor) => branches[cursor.branch(branches.length)]?.(cursor);
}

function freeNull(cursor: ByteCursor): undefined {
  cursor.free();
}

export function textReader(type: AvroType): Read<string> {
  return optionalReader(type, (branch) => (branch.kind === 'string' ? (cursor) => cursor.text() : unexpected(branch)));
}

export function booleanReader(type: AvroType): Read<boolean> {
  return optionalReader(type, (branch) => (branch.kind === 'boolean' ? (cursor) => cursor.boolean() : unexpected(branch)));
}

export function bytesReader(type: AvroType): Read<Uint8Array> {
  return optionalReader(type, (branch) => {
    if (branch.kind === 'bytes') return (cursor) => cursor.bytes();
    return branch.kind === 'fixed' ? (cursor) => cursor.fixed(branch.size) : unexpected(branch);
  });
}

/** An int, or a long that fits a double. */
export function numberReader(type: AvroType): Read<number> {
  return optionalReader(type, numberOf);
}

export function bigintReader(type: AvroType): Read<bigint> {
  return optionalReader(type, (branch) =>
    branch.kind === 'long' || branch.kind === 'int' ? (cursor) => cursor.long() : unexpected(branch),
  );
}

export function numbersReader(type: AvroType): Read<readonly number[]> {
  return optionalReader(type, (branch) => {
    if (branch.kind !== 'array') return unexpected(branch);
    const item = numberReader(branch.items);
    const itemBytes = leastBytes(branch.items);
    return (cursor) => {
      const items: number[] = [];
      for (let count = cursor.blockLength(itemBytes); count > 0; count = cursor.blockLength(itemBytes)) {
        for (let index = 0; index < count; index++) {
          const value = item(cursor);
          if (value !== undefined) items.push(value);
        }
      }
      return items;
    };
  });
}

/** An integer that may be beyond what a double has exactly is refused. */
export function safeLong(cursor: ByteCursor): number {
  cursor.long64(words, 0);
  const value = (words[1] ?? 0) * 0x1_0000_0000 + ((words[0] ?? 0) >>> 0);
  if (!Number.isSafeInteger(value)) throw cursor.fail(`${value} is too large`);
  return value;
}

/** What reads a value of a type that was not expected: it refuses. */
export function unexpected(type: AvroType): (cursor: ByteCursor) => never {
  return (cursor) => {
    throw cursor.fail(`a value of type ${type.kind} was not expected`);
  };
}

const words = new Int32Array(2);

function numberOf(type: AvroType): (cursor: ByteCursor) => number {
  if (type.kind === 'int') return (cursor) => cursor.int();
  return type.kind === 'long' ? safeLong : unexpected(type);
}
