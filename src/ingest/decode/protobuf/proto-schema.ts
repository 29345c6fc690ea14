import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor.js';
import { type ServiceError, serviceError } from '../../../base/errors.ts';
import { type Declared, declaredMessages } from './declared-messages.ts';

export type ProtoScalar =
  | 'double'
  | 'float'
  | 'int32'
  | 'uint32'
  | 'sint32'
  | 'fixed32'
  | 'sfixed32'
  | 'int64'
  | 'uint64'
  | 'sint64'
  | 'fixed64'
  | 'sfixed64'
  | 'bool'
  | 'string'
  | 'bytes';

export interface ProtoEnum {
  readonly kind: 'enum';
  readonly name: string;
  readonly names: ReadonlyMap<number, string>;
}

export interface ProtoMessage {
  readonly kind: 'message';
  /** With its package: `google.protobuf.Timestamp`. */
  readonly name: string;
  /** A message may hold itself: they are made when they are asked for. */
  fields(): readonly ProtoField[];
}

export type ProtoType = { readonly kind: 'scalar'; readonly scalar: ProtoScalar } | ProtoEnum | ProtoMessage;

export interface ProtoField {
  readonly name: string;
  readonly number: number;
  readonly type: ProtoType;
  readonly shape: 'one' | 'list' | { readonly mapFrom: ProtoScalar };
  /** Whether a record tells an absent field from one of its type's zero. */
  readonly presence: boolean;
  readonly required: boolean;
  /** Of a field that is absent and has presence, as the wire has it, without a length before it. */
  readonly declaredDefault: Uint8Array | undefined;
  /** A group: between tags of its own. */
  readonly group: boolean;
  /** The set of fields of which the last in the payload alone counts. */
  readonly oneof: string | undefined;
}

/** A file and what it imports. */
export interface ProtoSchema {
  readonly package: string;
  readonly messages: readonly Declared[];
  /** By its name with the package. `undefined`: there is none. */
  message(name: string): ProtoMessage | undefined;
}

/** A file of another name, by which it is imported. */
export interface ProtoFile {
  readonly name: string;
  readonly text: string;
}

/**
 * Reads the text of a `.proto` file, or a file's descriptor in base64, as some serializers register it, with what it imports; files of Google's and
 * Confluent's types need not be given.
 *
 * @throws ServiceError `PROTOBUF_SCHEMA_INVALID` (kind invalid) for imports that cannot be, the library's errors for what it cannot read.
 */
export function readProtoSchema(text: string, imports: readonly ProtoFile[]): ProtoSchema {
  const given = new Map(imports.map((file) => [file.name, file.text]));
  const described = isDescriptor(text) ? describedFile(text) : undefined;
  const root = new protobuf.Root();
  const read = new Set<string>();
  const readText = (source: string): protobuf.IParserResult => {
    const parsed = protobuf.parse(source, root, { keepCase: true });
    readImports([...(parsed.imports ?? []), ...(parsed.weakImports ?? [])]);
    return parsed;
  };
  const readImports = (names: readonly string[]): void => {
    for (const name of names.filter((each) => !read.has(each))) {
      read.add(name);
      const imported = given.get(name) ?? knownFiles.get(name);
      const common = protobuf.common.get(name);
      if (imported !== undefined && isDescriptor(imported)) throw cannotImport(name, 'is a descriptor, which only the outermost may be');
      if (imported !== undefined) readText(imported);
      else if (common !== null) root.addJSON(common.nested ?? {});
      else throw cannotImport(name, 'is not among its references');
    }
  };
  if (described === undefined) {
    const parsed = readText(text);
    root.resolveAll();
    return { package: parsed.package ?? '', messages: declaredMessages(text), message: (name) => messageNamed(root, name) };
  }
  // The library does not say what a descriptor imports: all that it may be.
  readImports([...given.keys(), ...knownFiles.keys(), ...googleFiles]);
  addDescribed(root, described);
  root.resolveAll();
  return {
    package: described.package ?? '',
    messages: (described.messageType ?? []).map(declaredOf),
    message: (name) => messageNamed(root, name),
  };
}

function cannotImport(name: string, why: string): ServiceError {
  return serviceError.invalid('PROTOBUF_SCHEMA_INVALID', `the file "${name}", which the schema imports, ${why}`, {
    hint: 'register it as a reference of the schema; a schema of the configuration imports only files that are known',
  });
}

/** Text of a schema has spaces or quotes between its words. */
function isDescriptor(text: string): boolean {
  return /^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(text) && !/[a-z] +[a-z]/.test(text);
}

const googleFiles = ['any', 'duration', 'empty', 'field_mask', 'struct', 'timestamp', 'wrappers'].map(
  (name) => `google/protobuf/${name}.proto`,
);

interface DescribedMessage {
  readonly name?: string;
  readonly nestedType?: readonly DescribedMessage[];
  readonly options?: { readonly mapEntry?: boolean };
}

interface DescribedFile {
  readonly package?: string;
  readonly syntax?: string;
  readonly messageType?: readonly DescribedMessage[];
  readonly enumType?: readonly object[];
}

function describedFile(base64: string): DescribedFile {
  const fileType = (descriptor as unknown as { readonly FileDescriptorProto: protobuf.Type }).FileDescriptorProto;
  return fileType.decode(Buffer.from(base64, 'base64')) as unknown as DescribedFile;
}

function addDescribed(
  root: protobuf.Root,
  { package: name = '', syntax = 'proto2', messageType = [], enumType = [] }: DescribedFile,
): void {
  const space = name === '' ? root : root.define(name);
  const context = { edition: syntax === '' ? 'proto2' : syntax, keepCase: true };
  for (const message of messageType) space.add(protobuf.Type.fromDescriptor(message as object, context));
  for (const one of enumType) space.add(protobuf.Enum.fromDescriptor(one, context));
}

function declaredOf({ name = '', nestedType = [], options }: DescribedMessage): Declared {
  return { name, isMapEntry: options?.mapEntry === true, nested: nestedType.map(declaredOf) };
}

function messageNamed(root: protobuf.Root, name: string): ProtoMessage | undefined {
  try {
    return messageOf(root.lookupType(name), new Map());
  } catch {
    return undefined;
  }
}

type Made = Map<protobuf.ReflectionObject, ProtoMessage>;

function messageOf(type: protobuf.Type, made: Made): ProtoMessage {
  const known = made.get(type);
  if (known !== undefined) return known;
  let fields: readonly ProtoField[] | undefined;
  const message: ProtoMessage = {
    kind: 'message',
    name: fullNameOf(type),
    fields: () => {
      fields ??= type.fieldsArray.map((field) => fieldOf(field, made));
      return fields;
    },
  };
  made.set(type, message);
  return message;
}

function fieldOf(field: protobuf.Field, made: Made): ProtoField {
  const { name, id: number, repeated, required } = field;
  const shape = field instanceof protobuf.MapField ? { mapFrom: field.keyType as ProtoScalar } : repeated ? 'list' : 'one';
  return {
    name,
    number,
    type: typeOf(field, made),
    shape,
    presence: shape === 'one' && (field.hasPresence || field.resolvedType instanceof protobuf.Type),
    required,
    declaredDefault: shape === 'one' ? declaredDefaultOf(field) : undefined,
    group: field.delimited,
    oneof: field.partOf?.name,
  };
}

function typeOf({ type, resolvedType }: protobuf.Field, made: Made): ProtoType {
  if (resolvedType instanceof protobuf.Enum) {
    const names = new Map(Object.entries(resolvedType.valuesById).map(([number, name]) => [Number(number), name]));
    return { kind: 'enum', name: fullNameOf(resolvedType), names };
  }
  return resolvedType === null ? { kind: 'scalar', scalar: type as ProtoScalar } : messageOf(resolvedType, made);
}

/** Only a default that a file spells out; that of a type is no value where a field tells that it is absent. */
function declaredDefaultOf(field: protobuf.Field): Uint8Array | undefined {
  const value: unknown = field.options?.['default'];
  if (value === undefined) return undefined;
  const writer = protobuf.Writer.create();
  if (field.resolvedType instanceof protobuf.Enum) return writer.int32(Number(field.defaultValue)).finish();
  switch (field.type) {
    case 'string':
      return Buffer.from(String(field.defaultValue), 'utf8');
    case 'bytes':
      return Uint8Array.from(field.defaultValue as ArrayLike<number>);
    default:
      return writerOf(writer, field.type as Exclude<ProtoScalar, 'string' | 'bytes'>, field.defaultValue).finish();
  }
}

function writerOf(writer: protobuf.Writer, type: Exclude<ProtoScalar, 'string' | 'bytes'>, value: unknown): protobuf.Writer {
  return type === 'bool' ? writer.bool(value === true) : writer[type](value as number);
}

function fullNameOf({ fullName }: protobuf.ReflectionObject): string {
  return fullName.startsWith('.') ? fullName.slice(1) : fullName;
}

/** Files that registries take as known besides those of `google/protobuf`, as far as a reader needs them. */
const knownFiles: ReadonlyMap<string, string> = new Map([
  ['confluent/meta.proto', 'syntax = "proto3"; package confluent;'],
  [
    'confluent/type/decimal.proto',
    'syntax = "proto3"; package confluent.type; message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }',
  ],
  ['google/type/date.proto', 'syntax = "proto3"; package google.type; message Date { int32 year = 1; int32 month = 2; int32 day = 3; }'],
  [
    'google/type/timeofday.proto',
    'syntax = "proto3"; package google.type; message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }',
  ],
  [
    'google/type/money.proto',
    'syntax = "proto3"; package google.type; message Money { string currency_code = 1; int64 units = 2; int32 nanos = 3; }',
  ],
  ['google/type/latlng.proto', 'syntax = "proto3"; package google.type; message LatLng { double latitude = 1; double longitude = 2; }'],
]);
