import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../../base/bigint-json.ts';
import { avroCorrupt, avroUnsupported } from './avro-errors.ts';

/**
 * A schema with its references resolved and what Iceberg adds to it: field, element, key and value ids, maps as arrays, adjust-to-utc.
 * See https://avro.apache.org/docs/1.12.0/specification/ and Iceberg spec, Appendix A: Avro.
 */
export type AvroType = AvroPrimitive | AvroFixed | AvroEnum | AvroRecord | AvroArray | AvroMap | AvroUnion;

export type AvroPrimitiveKind = 'null' | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'bytes' | 'string';

interface Logical {
  readonly logicalType?: string | undefined;
  /** What Kafka Connect calls the meaning of the value: `connect.name`. */
  readonly connectName?: string | undefined;
  /** Of a timestamp: true for an instant, false for a local time, `undefined` when the file does not tell. */
  readonly adjustToUtc?: boolean | undefined;
  /** Of a decimal. */
  readonly precision?: number | undefined;
  readonly scale?: number | undefined;
}

export interface AvroPrimitive extends Logical {
  readonly kind: AvroPrimitiveKind;
}

/** What a reader's schema knows its types and fields by, beside their names. */
interface Aliased {
  readonly aliases?: readonly string[] | undefined;
}

export interface AvroFixed extends Logical, Aliased {
  readonly kind: 'fixed';
  readonly name: string;
  readonly size: number;
}

export interface AvroEnum extends Aliased {
  readonly kind: 'enum';
  readonly name: string;
  readonly symbols: readonly string[];
  /** Of a reader's schema: what stands for symbols that it does not have. */
  readonly default?: string | undefined;
  /** Of a resolved type (`resolveSchemas`): symbols that the reader's schema does not have. */
  readonly unread?: ReadonlySet<string> | undefined;
}

export interface AvroRecord extends Aliased {
  readonly kind: 'record';
  readonly name: string;
  readonly fields: readonly AvroField[];
  /** Of a resolved type: fields of the reader's schema that are not written. */
  readonly added?: readonly AddedField[] | undefined;
}

export interface AvroField extends Aliased {
  readonly name: string;
  readonly type: AvroType;
  readonly fieldId?: number | undefined;
  readonly default?: JsonValue | undefined;
  /** Of a resolved type: the reader's schema does not have it. */
  readonly passed?: boolean | undefined;
}

/** A field whose values are all its default, which is the same as if these bytes of its type were written. */
export interface AddedField {
  readonly name: string;
  readonly type: AvroType;
  readonly bytes: Uint8Array;
}

/** With `map` its items are records of a key and a value, which stand for a map whose keys may be anything. */
export interface AvroArray {
  readonly kind: 'array';
  readonly items: AvroType;
  readonly map: boolean;
  readonly elementId?: number | undefined;
}

export interface AvroMap {
  readonly kind: 'map';
  readonly values: AvroType;
  readonly keyId?: number | undefined;
  readonly valueId?: number | undefined;
}

export interface AvroUnion {
  readonly kind: 'union';
  readonly branches: readonly AvroType[];
  /** Of a resolved type: branches that the reader's schema does not take, and why. */
  readonly unread?: ReadonlyMap<AvroType, string> | undefined;
}

/** A name used many times counts as often: reading a value may visit every node. */
const maxNodes = 100_000;
const maxDepth = 64;

/**
 * The type a schema means. `where` names the file in errors, `references` define types that it only names.
 *
 * @throws ServiceError `AVRO_FILE_CORRUPT` for what is no schema; `AVRO_UNSUPPORTED` for types that contain themselves.
 */
export function parseAvroType(schema: JsonValue, where: string, references: readonly JsonValue[] = []): AvroType {
  const parser = new TypeParser(where);
  for (const reference of references) parser.parse(reference, '', 0);
  return parser.parse(schema, '', 0).type;
}

/** The type of a value that is not null, and whether it may be null: `["null", T]` is T or null. */
export function withoutNull(type: AvroType): { readonly type: AvroType; readonly nullable: boolean } {
  if (type.kind !== 'union') return { type, nullable: type.kind === 'null' };
  const branches = type.branches.filter((branch) => branch.kind !== 'null');
  const [only] = branches;
  const nullable = branches.length < type.branches.length;
  return branches.length === 1 && only !== undefined ? { type: only, nullable } : { type, nullable };
}

/** A type and how many nodes its tree has. */
interface Sized {
  readonly type: AvroType;
  readonly nodes: number;
}

const primitives: ReadonlySet<string> = new Set<AvroPrimitiveKind>([
  'null',
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'bytes',
  'string',
]);

function isPrimitive(name: string): name is AvroPrimitiveKind {
  return primitives.has(name);
}

class TypeParser {
  readonly #where: string;
  /** By full name; `undefined` while the type is being read. */
  readonly #named = new Map<string, Sized | undefined>();

  constructor(where: string) {
    this.#where = where;
  }

  parse(schema: JsonValue | undefined, namespace: string, depth: number): Sized {
    if (depth > maxDepth) throw this.#corrupt(`types are nested deeper than ${maxDepth}`);
    const sized = this.#typeOf(schema, namespace, depth);
    if (sized.nodes > maxNodes) throw this.#corrupt(`the schema has more than ${maxNodes} types`);
    return sized;
  }

  #typeOf(schema: JsonValue | undefined, namespace: string, depth: number): Sized {
    if (typeof schema === 'string') return isPrimitive(schema) ? { type: { kind: schema }, nodes: 1 } : this.#reference(schema, namespace);
    if (Array.isArray(schema)) return this.#union(schema as readonly JsonValue[], namespace, depth);
    if (!isJsonObject(schema)) throw this.#corrupt(`no type: ${shown(schema)}`);
    const kind = schema['type'];
    if (typeof kind !== 'string') return this.parse(kind, namespace, depth + 1);
    if (isPrimitive(kind)) return { type: { kind, ...logicalOf(schema) }, nodes: 1 };
    switch (kind) {
      case 'record':
      case 'error':
        return this.#record(schema, namespace, depth);
      case 'enum':
        return this.#enum(schema, namespace);
      case 'fixed':
        return this.#fixed(schema, namespace);
      case 'array': {
        const items = this.parse(schema['items'], namespace, depth + 1);
        const map = schema['logicalType'] === 'map';
        return { type: { kind, items: items.type, map, elementId: idOf(schema, 'element-id') }, nodes: items.nodes + 1 };
      }
      case 'map': {
        const values = this.parse(schema['values'], namespace, depth + 1);
        return {
          type: { kind, values: values.type, keyId: idOf(schema, 'key-id'), valueId: idOf(schema, 'value-id') },
          nodes: values.nodes + 1,
        };
      }
      default:
        return this.#reference(kind, namespace);
    }
  }

  #union(schemas: readonly JsonValue[], namespace: string, depth: number): Sized {
    if (schemas.length === 0) throw this.#corrupt('a union has no branches');
    const branches = schemas.map((branch) => this.parse(branch, namespace, depth + 1));
    return { type: { kind: 'union', branches: branches.map((branch) => branch.type) }, nodes: 1 + totalNodes(branches) };
  }

  #record(schema: JsonObject, outer: string, depth: number): Sized {
    const { name, namespace } = this.#declare(schema, outer);
    const fields: readonly JsonValue[] = arrayOf(schema['fields']) ?? [];
    const names = new Set<string>();
    const sizes: Sized[] = [];
    const read = fields.map((field): AvroField => {
      if (!isJsonObject(field) || typeof field['name'] !== 'string') throw this.#corrupt(`record ${name} has a field without a name`);
      if (names.has(field['name'])) throw this.#corrupt(`record ${name} has two fields ${field['name']}`);
      names.add(field['name']);
      const sized = this.parse(field['type'], namespace, depth + 1);
      sizes.push(sized);
      const { default: preset } = field;
      return {
        name: field['name'],
        type: sized.type,
        fieldId: idOf(field, 'field-id'),
        ...aliasesOf(field, undefined),
        ...(preset === undefined ? {} : { default: preset }),
      };
    });
    const type = { kind: 'record', name, fields: read, ...aliasesOf(schema, namespace) } as const;
    return this.#define(name, { type, nodes: 1 + totalNodes(sizes) });
  }

  #enum(schema: JsonObject, outer: string): Sized {
    const { name, namespace } = this.#declare(schema, outer);
    const symbols = (arrayOf(schema['symbols']) ?? []).filter((symbol) => typeof symbol === 'string');
    const { default: preset } = schema;
    const type = {
      kind: 'enum',
      name,
      symbols,
      ...aliasesOf(schema, namespace),
      ...(typeof preset === 'string' ? { default: preset } : {}),
    } as const;
    return this.#define(name, { type, nodes: 1 });
  }

  #fixed(schema: JsonObject, outer: string): Sized {
    const { name, namespace } = this.#declare(schema, outer);
    const size = schema['size'];
    if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) throw this.#corrupt(`fixed ${name} has no size`);
    return this.#define(name, { type: { kind: 'fixed', name, size, ...logicalOf(schema), ...aliasesOf(schema, namespace) }, nodes: 1 });
  }

  #declare(schema: JsonObject, outer: string): { name: string; namespace: string } {
    const written = schema['name'];
    if (typeof written !== 'string' || written === '') throw this.#corrupt(`a type has no name: ${shown(schema)}`);
    const given = schema['namespace'];
    const name = written.includes('.') ? written : fullName(written, typeof given === 'string' ? given : outer);
    if (this.#named.has(name)) throw this.#corrupt(`type ${name} is defined twice`);
    this.#named.set(name, undefined);
    return { name, namespace: name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : '' };
  }

  #define(name: string, sized: Sized): Sized {
    this.#named.set(name, sized);
    return sized;
  }

  #reference(written: string, namespace: string): Sized {
    const name = written.includes('.') || this.#named.has(written) ? written : fullName(written, namespace);
    if (!this.#named.has(name)) throw this.#corrupt(`type ${name} is not defined`);
    const sized = this.#named.get(name);
    if (sized === undefined) throw avroUnsupported(this.#where, `type ${name} contains itself`);
    return sized;
  }

  #corrupt(detail: string): Error {
    return avroCorrupt(this.#where, `avro schema: ${detail}`);
  }
}

function totalNodes(parts: readonly Sized[]): number {
  return parts.reduce((sum, part) => sum + part.nodes, 0);
}

function fullName(name: string, namespace: string): string {
  return namespace === '' ? name : `${namespace}.${name}`;
}

/** Of a type they are full names, those without a dot in its `namespace`; of a field they are as they stand. */
function aliasesOf(schema: JsonObject, namespace: string | undefined): Aliased {
  const aliases = (arrayOf(schema['aliases']) ?? []).filter((alias) => typeof alias === 'string');
  if (aliases.length === 0) return {};
  return { aliases: aliases.map((alias) => (namespace === undefined || alias.includes('.') ? alias : fullName(alias, namespace))) };
}

function logicalOf(schema: JsonObject): Logical {
  const { logicalType, precision, scale, 'adjust-to-utc': adjustToUtc, 'connect.name': connectName } = schema;
  return {
    ...(typeof logicalType === 'string' ? { logicalType } : {}),
    ...(typeof connectName === 'string' ? { connectName } : {}),
    ...(typeof adjustToUtc === 'boolean' ? { adjustToUtc } : {}),
    ...(typeof precision === 'number' ? { precision } : {}),
    ...(typeof scale === 'number' ? { scale } : {}),
  };
}

function idOf(schema: JsonObject, key: string): number | undefined {
  const id = schema[key];
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}

function arrayOf(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : undefined;
}

function shown(value: JsonValue | undefined): string {
  return value === undefined ? 'nothing' : printJson(value).slice(0, 80);
}
