import type { ColumnBuilder } from '../../../codec/columns/column-builder.ts';
import { ListBuilder, MapBuilder, StructBuilder } from '../../../codec/columns/nested-builders.ts';
import type { DecodeSpec } from '../../../protocol/sealed-batch.ts';
import { describeType } from '../../../schema/describe-type.ts';
import type { DataType } from '../../../schema/types.ts';
import type { PayloadMember } from '../payload-decoder.ts';
import { ValueRefused } from '../value-refused.ts';
import { knownMessageReader } from './known-messages.ts';
import { Occurrences, type WantedField } from './occurrences.ts';
import type { ProtoField, ProtoMessage, ProtoScalar, ProtoType } from './proto-schema.ts';
import { enumReader, scalarReader } from './scalar-readers.ts';
import type { ValueReader } from './value-reader.ts';
import { WireCursor, wire } from './wire-cursor.ts';

type Unknown = DecodeSpec['unknownMembers'];

/** Puts what a message has of one field into its column. */
type FieldStep = (found: Occurrences, index: number, cursor: WireCursor) => void;

interface ReadField extends Omit<WantedField, 'oneof'> {
  readonly step: FieldStep;
}

/** Reads messages into the columns of their fields' names, strictly: what does not fit a column exactly throws `ValueRefused`. */
export class MessageReader {
  readonly #fields: readonly ReadField[];
  readonly #absent: readonly PayloadMember[];
  readonly #found: Occurrences;
  readonly #where: string;
  readonly #unknownMembers: Unknown;

  /** `where`: the place of the message in its table, for messages; empty for the payload itself. */
  constructor(message: ProtoMessage, members: readonly PayloadMember[], unknownMembers: Unknown, where = '') {
    const declared = new Map(message.fields().map((field) => [field.name, field]));
    this.#fields = members.flatMap((member) => {
      const field = declared.get(member.name);
      return field === undefined
        ? []
        : [readField(field, member, unknownMembers, where === '' ? member.label : `${where}.${member.label}`)];
    });
    this.#absent = members.filter(({ name }) => !declared.has(name));
    this.#found = occurrencesOf(message, members, this.#fields);
    this.#where = where;
    this.#unknownMembers = unknownMembers;
  }

  begin(): void {
    this.#found.clear();
  }

  /** Fields of the message scanned that no column takes. */
  get unread(): number {
    return this.#found.unknown;
  }

  /** Takes in what is in the cursor's range; several ranges are one message, as if they stood behind each other. */
  scan(cursor: WireCursor): void {
    this.#found.scan(cursor);
  }

  /** Appends the message that was scanned. The cursor is left anywhere. */
  append(cursor: WireCursor): void {
    const found = this.#found;
    if (found.unknown > 0 && this.#unknownMembers === 'reject')
      throw new ValueRefused(this.#where, 'unknown-member', `${found.unknown} fields are members that no column takes`);
    const { length } = this.#fields;
    for (let index = 0; index < length; index += 1) this.#fields[index]?.step(found, index, cursor);
    for (const member of this.#absent)
      appendNothing(member.column, member.nullable, this.#where === '' ? member.label : `${this.#where}.${member.label}`);
  }
}

/** Where the fields stand, and others that put them out because they are of the same oneof. */
function occurrencesOf(message: ProtoMessage, members: readonly PayloadMember[], fields: readonly ReadField[]): Occurrences {
  const names = new Set(members.map(({ name }) => name));
  const declared = message.fields();
  const oneofs = [...new Set(declared.filter(({ name }) => names.has(name)).flatMap(({ oneof }) => oneof ?? []))];
  const oneofOf = (field: ProtoField | undefined): number | undefined =>
    field?.oneof === undefined ? undefined : oneofs.indexOf(field.oneof);
  const read = fields.map((field) => ({ ...field, oneof: oneofOf(declared.find(({ number }) => number === field.number)) }));
  const others = declared
    .filter(({ name, oneof }) => oneof !== undefined && oneofs.includes(oneof) && !names.has(name))
    .map((field): WantedField => {
      const wireType = field.group ? wire.startGroup : wireTypeOf(field.type);
      return { number: field.number, wireType, packable: false, oneof: oneofOf(field) };
    });
  return new Occurrences([...read, ...others], others.length);
}

function appendNothing(column: ColumnBuilder, nullable: boolean, where: string): void {
  if (!nullable) throw new ValueRefused(where, 'missing-required', 'a required column has no value');
  column.appendNull();
}

function readField(field: ProtoField, member: PayloadMember, unknownMembers: Unknown, where: string): ReadField {
  const { number, shape, group } = field;
  const { column, type } = member;
  const refused = { number, wireType: group ? wire.startGroup : wire.bytes, packable: true, step: refusing(field, member, where) };
  if (group) return refused;
  if (shape === 'one') {
    const value = readerOf(field.type, { column, type, unknownMembers, where });
    return value === undefined ? { ...refused, wireType: wireTypeOf(field.type) } : single(field, member, value, where);
  }
  if (shape === 'list') {
    if (!(column instanceof ListBuilder)) return { ...refused, wireType: wireTypeOf(field.type) };
    const inner = { column: column.element, type: column.type.element, unknownMembers, where: `${where}[]` };
    const value = readerOf(field.type, inner);
    return value === undefined ? { ...refused, wireType: wireTypeOf(field.type) } : list(field, column, value);
  }
  if (!(column instanceof MapBuilder)) return refused;
  return map(field, shape.mapFrom, column, { unknownMembers, where }) ?? refused;
}

function wireTypeOf(type: ProtoType): number {
  if (type.kind === 'enum') return wire.varint;
  if (type.kind === 'message' || type.scalar === 'string' || type.scalar === 'bytes') return wire.bytes;
  switch (type.scalar) {
    case 'double':
    case 'fixed64':
    case 'sfixed64':
      return wire.fixed64;
    case 'float':
    case 'fixed32':
    case 'sfixed32':
      return wire.fixed32;
    default:
      return wire.varint;
  }
}

interface Target {
  readonly column: ColumnBuilder;
  readonly type: DataType;
  readonly unknownMembers: Unknown;
  readonly where: string;
}

/** The reader of one value; one of a message takes several ranges as one. `undefined`: the column does not take such values. */
function readerOf(type: ProtoType, { column, unknownMembers, where }: Target): ValueReader | MessageValue | undefined {
  switch (type.kind) {
    case 'scalar':
      return scalarReader(type.scalar, column, where);
    case 'enum':
      return enumReader(type, column, where);
    case 'message':
      return (
        knownMessageReader(type.name, column, where) ??
        (column instanceof StructBuilder ? new MessageValue(type, column, unknownMembers, where) : undefined)
      );
  }
}

/** A message in a struct. */
class MessageValue {
  readonly column: StructBuilder;
  readonly wireType = wire.bytes;
  readonly reader: MessageReader;

  constructor(message: ProtoMessage, column: StructBuilder, unknownMembers: Unknown, where: string) {
    const members = column.type.fields.flatMap(({ name, nullable, type }, index): readonly PayloadMember[] => {
      const child = column.children[index];
      return child === undefined ? [] : [{ name, label: name, nullable, type, column: child }];
    });
    this.column = column;
    this.reader = new MessageReader(message, members, unknownMembers, where);
  }

  /** The cursor's range is all of it. */
  read(cursor: WireCursor): void {
    this.reader.begin();
    this.reader.scan(cursor);
    this.end(cursor);
  }

  end(cursor: WireCursor): void {
    this.reader.append(cursor);
    this.column.end();
  }
}

/** What each type's zero is on the wire: a varint, four or eight bytes, or no bytes. */
const zeros = new Uint8Array(8);

function single(field: ProtoField, { column, nullable }: PayloadMember, value: ValueReader | MessageValue, where: string): ReadField {
  const { number, presence, declaredDefault } = field;
  const zero = new WireCursor(zeros);
  const given = declaredDefault ?? (presence ? undefined : zeros.subarray(0, value.wireType === wire.bytes ? 0 : zeros.length));
  return {
    number,
    wireType: value.wireType,
    packable: false,
    step: (found, index, cursor) => {
      const last = found.last[index] ?? -1;
      if (last < 0) {
        if (given === undefined) appendNothing(column, nullable, where);
        else {
          zero.load(given, 0, given.length);
          value.read(zero);
        }
      } else if (value instanceof MessageValue) {
        value.reader.begin();
        for (let at = found.first[index] ?? -1; at >= 0; at = found.next[at] ?? -1) {
          toOccurrence(found, at, cursor);
          value.reader.scan(cursor);
        }
        value.end(cursor);
      } else {
        toOccurrence(found, last, cursor);
        value.read(cursor);
      }
    },
  };
}

function toOccurrence(found: Occurrences, at: number, cursor: WireCursor): void {
  cursor.at = found.starts[at] ?? 0;
  cursor.end = found.ends[at] ?? 0;
}

function list({ number }: ProtoField, column: ListBuilder, value: ValueReader | MessageValue): ReadField {
  const packable = value.wireType !== wire.bytes;
  return {
    number,
    wireType: value.wireType,
    packable,
    step: (found, index, cursor) => {
      for (let at = found.first[index] ?? -1; at >= 0; at = found.next[at] ?? -1) {
        toOccurrence(found, at, cursor);
        if (!packable || found.wireTypes[at] !== wire.bytes) value.read(cursor);
        else while (cursor.at < cursor.end) value.read(cursor);
      }
      column.end();
    },
  };
}

/** Entries are messages of a key (1) and a value (2), of which the last of a key counts. */
function map(
  field: ProtoField,
  keyType: ProtoScalar,
  column: MapBuilder,
  { unknownMembers, where }: Omit<Target, 'column' | 'type'>,
): ReadField | undefined {
  const key: ProtoField = {
    ...field,
    name: 'key',
    number: 1,
    type: { kind: 'scalar', scalar: keyType },
    shape: 'one',
    presence: false,
    declaredDefault: undefined,
  };
  const value: ProtoField = { ...field, name: 'value', number: 2, shape: 'one', presence: false, declaredDefault: undefined };
  const { keys, values, type } = column;
  const entryWhere = `${where}{}`;
  if (readerOf(key.type, { column: keys, type: type.key, unknownMembers, where: entryWhere }) === undefined) return undefined;
  if (readerOf(value.type, { column: values, type: type.value, unknownMembers, where: entryWhere }) === undefined) return undefined;
  const entry: ProtoMessage = { kind: 'message', name: '', fields: () => [key, value] };
  const members: readonly PayloadMember[] = [
    { name: 'key', label: 'key', nullable: false, type: type.key, column: keys },
    { name: 'value', label: 'value', nullable: true, type: type.value, column: values },
  ];
  const reader = new MessageReader(entry, members, 'ignore', entryWhere);
  const keyOnly = new Occurrences([{ number: 1, wireType: wireTypeOf(key.type), packable: false }]);
  return {
    number: field.number,
    wireType: wire.bytes,
    packable: false,
    step: (found, index, cursor) => {
      const first = found.first[index] ?? -1;
      const lastOfKey = first === found.last[index] ? undefined : lastEntries(found, first, { keyOnly, keyType }, cursor);
      for (let at = first; at >= 0; at = found.next[at] ?? -1) {
        if (lastOfKey?.has(at) === false) continue;
        toOccurrence(found, at, cursor);
        reader.begin();
        reader.scan(cursor);
        reader.append(cursor);
      }
      column.end();
    },
  };
}

/** Of entries with the same key the last. */
function lastEntries(
  found: Occurrences,
  first: number,
  { keyOnly, keyType }: { readonly keyOnly: Occurrences; readonly keyType: ProtoScalar },
  cursor: WireCursor,
): ReadonlySet<number> {
  const byKey = new Map<string, number>();
  for (let at = first; at >= 0; at = found.next[at] ?? -1) {
    toOccurrence(found, at, cursor);
    keyOnly.clear();
    keyOnly.scan(cursor);
    byKey.set(keyText(keyOnly, keyType, cursor), at);
  }
  return new Set(byKey.values());
}

/** The same for all spellings of one key: a varint may have more bits than its type takes, and zeros may be left out. */
function keyText(found: Occurrences, type: ProtoScalar, cursor: WireCursor): string {
  const last = found.last[0] ?? -1;
  if (last < 0) return '';
  toOccurrence(found, last, cursor);
  if (found.wireTypes[last] === wire.varint) {
    cursor.varint();
    const high = type.endsWith('32') ? 0 : cursor.high;
    if (cursor.low === 0 && high === 0) return '';
    return type === 'bool' ? 'true' : `${high},${cursor.low}`;
  }
  const text = Buffer.from(cursor.bytes.subarray(cursor.at, cursor.end)).toString('latin1');
  return found.wireTypes[last] === wire.bytes || /[^\0]/u.test(text) ? text : '';
}

function refusing({ type, shape }: ProtoField, { column, nullable, type: wanted }: PayloadMember, where: string): FieldStep {
  const name = type.kind === 'scalar' ? type.scalar : type.name;
  const stored = shape === 'one' ? name : shape === 'list' ? `repeated ${name}` : `map<${shape.mapFrom}, ${name}>`;
  return (found, index) => {
    if ((found.last[index] ?? -1) < 0) appendNothing(column, nullable, where);
    else throw new ValueRefused(where, 'wrong-type', `a value of Protobuf type ${stored} is not ${describeType(wanted)}`);
  };
}
