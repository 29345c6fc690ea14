import {
  type AddedField,
  type AvroEnum,
  type AvroField,
  type AvroFixed,
  type AvroPrimitive,
  type AvroRecord,
  type AvroType,
  type AvroUnion,
} from './avro-type.ts';
import { describeStored } from './resolve-columns.ts';
import { defaultBytes } from './write-default.ts';

/** Why values of the writer's schema are no values of the reader's. */
class Unresolved extends Error {}

type Named = AvroRecord | AvroEnum | AvroFixed;

/**
 * The writer's type as the reader's schema means it (Avro specification, "Schema Resolution"): the bytes are those of the writer, names,
 * symbols and meanings those of the reader. Fields of the writer that the reader does not have are marked as passed, those that only the reader
 * has are added with their defaults. Numbers stay as they are written, since a column takes them exactly. A logical type of the writer
 * counts, where it has one: it knows what it wrote. A text says why the writer's values are none of the reader's.
 */
export function resolveSchemas(writer: AvroType, reader: AvroType): AvroType | string {
  try {
    return resolve(writer, reader, '');
  } catch (error) {
    if (error instanceof Unresolved) return error.message;
    throw error;
  }
}

function resolve(writer: AvroType, reader: AvroType, at: string): AvroType {
  if (writer.kind === 'union') return eachBranch(writer, reader, at);
  const meant = reader.kind === 'union' ? branchFor(writer, reader, at) : reader;
  switch (writer.kind) {
    case 'record':
      return meant.kind === 'record' ? resolveRecord(writer, sameName(writer, meant, at), at) : refuse(writer, meant, at);
    case 'enum':
      return meant.kind === 'enum' ? resolveEnum(writer, sameName(writer, meant, at)) : refuse(writer, meant, at);
    case 'fixed':
      if (meant.kind !== 'fixed' || meant.size !== writer.size) return refuse(writer, meant, at);
      return { ...writer, ...meaning(writer, sameName(writer, meant, at)) };
    case 'array':
      return meant.kind === 'array' ? { ...writer, items: resolve(writer.items, meant.items, `${at}[]`) } : refuse(writer, meant, at);
    case 'map':
      return meant.kind === 'map' ? { ...writer, values: resolve(writer.values, meant.values, `${at}{}`) } : refuse(writer, meant, at);
    default:
      return isPrimitive(meant) ? resolvePrimitive(writer, meant, at) : refuse(writer, meant, at);
  }
}

/** A branch that the reader does not take is refused when a value is of it, not before. */
function eachBranch(writer: AvroUnion, reader: AvroType, at: string): AvroType {
  const unread = new Map<AvroType, string>();
  const branches = writer.branches.map((branch) => {
    const resolved = resolveSchemas(branch, reader);
    if (typeof resolved !== 'string') return resolved;
    // An object of its own: primitive types may be shared between unions.
    const kept = { ...branch };
    unread.set(kept, resolved);
    return kept;
  });
  const [first] = unread.values();
  if (first !== undefined && unread.size === branches.length) throw new Unresolved(at === '' ? first : `field ${at}: ${first}`);
  return { ...writer, branches, ...(unread.size === 0 ? {} : { unread }) };
}

/** The reader's branch for what is written: of the same name or kind, else the first that it is promoted to. */
function branchFor(writer: AvroType, reader: AvroUnion, at: string): AvroType {
  const { branches } = reader;
  const found = isNamed(writer)
    ? (branches.find((branch) => branch.kind === writer.kind && branch.name === writer.name) ??
      branches.find((branch) => branch.kind === writer.kind && isNamed(branch) && isCalled(branch, writer.name)))
    : (branches.find(({ kind }) => kind === writer.kind) ?? branches.find(({ kind }) => isPromoted(writer.kind, kind)));
  return found ?? refuse(writer, reader, at);
}

function resolveRecord(writer: AvroRecord, reader: AvroRecord, at: string): AvroRecord {
  const read = new Set<AvroField>();
  const fields = writer.fields.map((field): AvroField => {
    const meant =
      reader.fields.find(({ name }) => name === field.name) ??
      reader.fields.find(
        ({ name, aliases }) => aliases?.includes(field.name) === true && !writer.fields.some((other) => other.name === name),
      );
    if (meant === undefined || read.has(meant)) return { ...field, passed: true };
    read.add(meant);
    return { ...field, name: meant.name, type: resolve(field.type, meant.type, below(at, meant.name)) };
  });
  const added = reader.fields.filter((field) => !read.has(field)).map((field) => addedField(field, below(at, field.name)));
  return { ...writer, fields, ...(added.length === 0 ? {} : { added }) };
}

function addedField({ name, type, default: preset }: AvroField, at: string): AddedField {
  if (preset === undefined) throw new Unresolved(`field ${at} is not written and has no default`);
  const bytes = defaultBytes(type, preset);
  if (bytes === undefined) throw new Unresolved(`the default of field ${at} is no ${describeStored(type)}`);
  return { name, type, bytes };
}

function resolveEnum(writer: AvroEnum, reader: AvroEnum): AvroEnum {
  const has = (symbol: string): boolean => reader.symbols.includes(symbol);
  const missing = writer.symbols.filter((symbol) => !has(symbol));
  const preset = reader.default;
  if (missing.length === 0) return writer;
  if (preset === undefined || !has(preset)) return { ...writer, unread: new Set(missing) };
  return { ...writer, symbols: writer.symbols.map((symbol) => (has(symbol) ? symbol : preset)) };
}

/** What a written type may be read as, beside itself. */
const promotions: Readonly<Record<string, readonly string[]>> = {
  int: ['long', 'float', 'double'],
  long: ['float', 'double'],
  float: ['double'],
  string: ['bytes'],
  bytes: ['string'],
};

function isPromoted(written: string, read: string): boolean {
  return promotions[written]?.includes(read) === true;
}

function resolvePrimitive(writer: AvroPrimitive, reader: AvroPrimitive, at: string): AvroPrimitive {
  if (writer.kind === reader.kind) return { ...writer, ...meaning(writer, reader) };
  if (!isPromoted(writer.kind, reader.kind)) return refuse(writer, reader, at);
  // A time of another unit is none, and neither are digits that are bytes of a number.
  if (writer.kind === 'int' && reader.kind === 'long') return { ...writer, ...meaning(writer, reader) };
  if (isDecimal(writer) || isDecimal(reader)) return refuse(writer, reader, at);
  // Text and bytes are written alike.
  return { kind: writer.kind === 'string' || writer.kind === 'bytes' ? reader.kind : writer.kind };
}

function isDecimal({ logicalType }: AvroPrimitive): boolean {
  return logicalType === 'decimal';
}

type Meaning = Pick<AvroPrimitive, 'logicalType' | 'connectName' | 'precision' | 'scale'>;

function meaning(writer: Meaning, reader: Meaning): Meaning {
  const { logicalType, connectName, precision, scale } =
    writer.logicalType === undefined && writer.connectName === undefined ? reader : writer;
  return { logicalType, connectName, precision, scale };
}

function sameName<T extends Named>(writer: Named, reader: T, at: string): T {
  if (isCalled(reader, writer.name)) return reader;
  throw new Unresolved(`${placed(at)}${writer.kind} ${writer.name} is not ${reader.name}, nor one of its aliases`);
}

/** By its name without the namespace, or an alias. */
function isCalled(reader: Named, written: string): boolean {
  const last = unqualified(written);
  return unqualified(reader.name) === last || reader.aliases?.some((alias) => alias === written || unqualified(alias) === last) === true;
}

function unqualified(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

function isNamed(type: AvroType): type is Named {
  return type.kind === 'record' || type.kind === 'enum' || type.kind === 'fixed';
}

function isPrimitive(type: AvroType): type is AvroPrimitive {
  return !isNamed(type) && type.kind !== 'array' && type.kind !== 'map' && type.kind !== 'union';
}

function below(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`;
}

function placed(at: string): string {
  return at === '' ? '' : `field ${at}: `;
}

function refuse(writer: AvroType, reader: AvroType, at: string): never {
  throw new Unresolved(`${placed(at)}${describeStored(writer)} is not read as ${describeStored(reader)}`);
}
