import { type AvroReader, NullReader } from '../../../codec/avro/avro-reader.ts';
import type { AvroField, AvroRecord, AvroType } from '../../../codec/avro/avro-type.ts';
import { ByteCursor } from '../../../codec/avro/byte-cursor.ts';
import { ListReader, MapReader, NullableReader, type RecordStep, StructReader } from '../../../codec/avro/nested-readers.ts';
import { describeStored } from '../../../codec/avro/resolve-columns.ts';
import { leastBytes, pairOf, type ValueSkipper, valueSkipper } from '../../../codec/avro/skip-values.ts';
import { BytesBuilder } from '../../../codec/columns/bytes-builder.ts';
import type { ColumnBuilder } from '../../../codec/columns/column-builder.ts';
import { KeySet } from '../../../codec/columns/key-set.ts';
import { ListBuilder, MapBuilder, StructBuilder } from '../../../codec/columns/nested-builders.ts';
import type { DecodeSpec, PassReason } from '../../../protocol/sealed-batch.ts';
import { describeType } from '../../../schema/describe-type.ts';
import type { DataType } from '../../../schema/types.ts';
import type { PayloadMember } from '../payload-decoder.ts';
import { shown } from '../rejection.ts';
import { ValueRefused } from '../value-refused.ts';
import { scalarReader } from './scalar-values.ts';

type Unknown = DecodeSpec['unknownMembers'];

/** Reads the fields of a record into the columns of their names. Returns why the record is no row. */
export type RecordReader = (cursor: ByteCursor) => PassReason | undefined;

/** The reader of payloads that were written with `stored`, strictly: what does not fit a column exactly throws `ValueRefused`. */
export function recordReader(stored: AvroRecord, members: readonly PayloadMember[], unknownMembers: Unknown): RecordReader {
  const steps = recordSteps(stored, members, unknownMembers, '');
  const absent = members.filter(({ name }) => !isThere(stored, name));
  return (cursor) => {
    for (const step of steps) {
      if (step.kind === 'read') step.reader.read(cursor);
      else step.skip(cursor);
    }
    for (const member of absent) appendAbsent(member);
    return undefined;
  };
}

/** Fields that no column takes. */
export function unreadFields(stored: AvroRecord, members: readonly PayloadMember[]): number {
  const names = new Set(members.map(({ name }) => name));
  const { fields, added = [] } = stored;
  return [...fields.filter(({ passed }) => passed !== true), ...added].filter(({ name }) => !names.has(name)).length;
}

/** Whether payloads have the field, or the schema that they are read as has a default for it. */
function isThere({ fields, added }: AvroRecord, name: string): boolean {
  return fields.some((field) => field.passed !== true && field.name === name) || added?.some((field) => field.name === name) === true;
}

/** The reader of payloads that are one value, for the one column that takes it. */
export function valueReader(stored: AvroType, { label, nullable, column, type }: PayloadMember, unknownMembers: Unknown): RecordReader {
  const reader = readerOf(stored, { column, type, nullable, where: label }, unknownMembers);
  return (cursor) => {
    reader.read(cursor);
    return undefined;
  };
}

function recordSteps(stored: AvroRecord, members: readonly PayloadMember[], unknownMembers: Unknown, outer: string): readonly RecordStep[] {
  const readerFor = ({ name, type: written }: Pick<AvroField, 'name' | 'type'>): AvroReader | undefined => {
    const member = members.find((each) => each.name === name);
    if (member === undefined) return undefined;
    const { column, type, nullable, label } = member;
    const where = outer === '' ? label : `${outer}.${label}`;
    return readerOf(written, { column, type, nullable, where }, unknownMembers);
  };
  const steps = stored.fields.map((field): RecordStep => {
    if (field.passed === true) return { kind: 'skip', skip: valueSkipper(field.type) };
    const reader = readerFor(field);
    if (reader !== undefined) return { kind: 'read', reader };
    return { kind: 'skip', skip: unknownMembers === 'reject' ? refuseUnknown(outer, field.name) : valueSkipper(field.type) };
  });
  const added = (stored.added ?? []).flatMap((field): readonly RecordStep[] => {
    const reader = readerFor(field);
    return reader === undefined ? [] : [{ kind: 'read', reader: presetReader(reader, field.bytes) }];
  });
  return added.length === 0 ? steps : [...steps, ...added];
}

/** Reads the same bytes each time, whatever is in the payload. */
function presetReader(reader: AvroReader, bytes: Uint8Array): AvroReader {
  const preset = new ByteCursor(bytes, 'the default');
  return {
    column: reader.column,
    read(): void {
      preset.load(bytes, 0, bytes.length);
      reader.read(preset);
    },
  };
}

function refuseUnknown(outer: string, name: string): ValueSkipper {
  return () => {
    throw new ValueRefused(outer, 'unknown-member', `member "${name}" is a member that no column takes`);
  };
}

/** @throws ValueRefused when the column is required. */
export function appendAbsent({ label, nullable, column }: PayloadMember): void {
  if (!nullable) throw new ValueRefused(label, 'missing-required', 'a required column has no value');
  column.appendNull();
}

/** A column and what may be put into it. */
interface Target {
  readonly column: ColumnBuilder;
  readonly type: DataType;
  readonly nullable: boolean;
  /** The column, or a place inside of it, for messages. */
  readonly where: string;
}

function readerOf(stored: AvroType, target: Target, unknownMembers: Unknown): AvroReader {
  const { column, nullable, where } = target;
  if (stored.kind === 'null') return nullable ? new NullReader(column) : refuseNull(column, where);
  if (stored.kind !== 'union') return valueReaderOf(stored, target, unknownMembers);
  const { branches: written, unread } = stored;
  const nullBranch = written.findIndex((branch) => branch.kind === 'null');
  const [only, ...more] = written.filter((branch) => branch.kind !== 'null');
  if (nullable && nullBranch >= 0 && only !== undefined && more.length === 0 && unread === undefined)
    return new NullableReader(valueReaderOf(only, target, unknownMembers), written.length, nullBranch);
  const branches = written.map((branch) => {
    const why = unread?.get(branch);
    return why === undefined ? readerOf(branch, target, unknownMembers) : refuseUnread(target, why);
  });
  return {
    column,
    read(cursor): void {
      branches[cursor.branch(branches.length)]?.read(cursor);
    },
  };
}

function valueReaderOf(stored: AvroType, target: Target, unknownMembers: Unknown): AvroReader {
  const { column, type, where } = target;
  return (
    nestedReader(stored, target, unknownMembers) ??
    scalarReader(stored, column, where) ?? {
      column,
      read(): void {
        throw new ValueRefused(where, 'wrong-type', `a value of Avro type ${describeStored(stored)} is not ${describeType(type)}`);
      },
    }
  );
}

function nestedReader(stored: AvroType, { column, where }: Target, unknownMembers: Unknown): AvroReader | undefined {
  if (column instanceof StructBuilder && stored.kind === 'record') return structReader(stored, column, where, unknownMembers);
  if (column instanceof ListBuilder && stored.kind === 'array') {
    const { element, type } = column;
    const inner = { column: element, type: type.element, nullable: type.elementNullable, where: `${where}[]` };
    return new ListReader(column, readerOf(stored.items, inner, unknownMembers), leastBytes(stored.items));
  }
  if (!(column instanceof MapBuilder)) return undefined;
  const pair =
    stored.kind === 'map'
      ? ({ key: { kind: 'string' }, value: stored.values } as const)
      : stored.kind === 'array'
        ? pairOf(stored)
        : undefined;
  if (pair === undefined) return undefined;
  const { keys, values, type } = column;
  const key = readerOf(pair.key, { column: keys, type: type.key, nullable: false, where: `${where}{}` }, unknownMembers);
  const value = readerOf(
    pair.value,
    { column: values, type: type.value, nullable: type.valueNullable, where: `${where}{}` },
    unknownMembers,
  );
  const entries = new MapReader(column, key, value, leastBytes(pair.key) + leastBytes(pair.value));
  return keys instanceof BytesBuilder ? withoutRepeatedKeys(entries, keys, where) : entries;
}

/** A map with a key twice would have one value for some readers and the other for others. */
function withoutRepeatedKeys(entries: AvroReader, keys: BytesBuilder, where: string): AvroReader {
  const seen = new KeySet();
  return {
    column: entries.column,
    read(cursor): void {
      const first = keys.length;
      entries.read(cursor);
      if (keys.length - first < 2) return;
      seen.clear();
      const data = keys.reserve(0);
      for (let index = first; index < keys.length; index += 1) {
        const [from, until] = [keys.offsetOf(index), keys.offsetOf(index + 1)];
        if (!seen.add(data, from, until))
          throw new ValueRefused(where, 'duplicate-member', `key "${shown(data, from, until)}" is there more than once`);
      }
    },
  };
}

function structReader(stored: AvroRecord, column: StructBuilder, where: string, unknownMembers: Unknown): AvroReader {
  const members = column.type.fields.flatMap(({ name, nullable, type }, index): readonly PayloadMember[] => {
    const child = column.children[index];
    return child === undefined ? [] : [{ name, label: name, nullable, type, column: child }];
  });
  const required = members.find(({ name, nullable }) => !nullable && !isThere(stored, name));
  const steps = recordSteps(stored, members, unknownMembers, where);
  if (required === undefined) return new StructReader(column, steps);
  return {
    column,
    read(): void {
      throw new ValueRefused(`${where}.${required.label}`, 'missing-required', 'a required column has no value');
    },
  };
}

/** What the writer's schema has and the schema of the route has not. */
function refuseUnread({ column, where }: Target, why: string): AvroReader {
  return {
    column,
    read(): void {
      throw new ValueRefused(where, 'wrong-type', `by the schema of the route: ${why}`);
    },
  };
}

function refuseNull(column: ColumnBuilder, where: string): AvroReader {
  return {
    column,
    read(): void {
      throw new ValueRefused(where, 'missing-required', 'null is not allowed in a required column');
    },
  };
}
