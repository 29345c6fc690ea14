import { assertNever, present } from '../../base/assert.ts';
import type { DivisionKey, DivisionPart, DivisionSpec, DivisionTemplate } from '../../protocol/division.ts';
import { bitAt } from '../../schema/bitmap.ts';
import type { Column } from '../../schema/columns.ts';
import { isValid } from '../../schema/columns.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import type { KnownSchemas } from '../decode/known-schemas.ts';
import { RecordDecoder, type RecordDecoderOptions } from '../decode/record-decoder.ts';
import type { Refusal } from '../decode/rejection.ts';
import { truncationAs } from '../decode/replaced-rows.ts';
import type { SourceRecord } from '../decode/source-record.ts';
import { wholePattern } from '../whole-pattern.ts';
import { keyText } from './key-text.ts';
import { madeName } from './made-name.ts';
import { hasRecordTypes, RecordTypes } from './record-types.ts';

export interface DivisionKeysOptions extends RecordDecoderOptions {
  readonly schemas: KnownSchemas;
}

/** The number of the part that takes a record, a key that a table is to be made for, or why there is neither. */
export type Assignment = number | Wanted | Refusal;

export interface Wanted {
  readonly wanted: string;
}

/** What becomes of a record whose table is not made. */
export function asRefusal(assignment: Wanted | Refusal, { key, template }: Pick<DivisionSpec, 'key' | 'template'>): Refusal {
  if (!('wanted' in assignment)) return assignment;
  const why = `none is made for it: there are ${template?.max ?? 0} that a template made, or its name is taken`;
  return noTable(key, assignment.wanted, why);
}

function noTable(key: DivisionKey, text: string, why?: string): Refusal {
  const message = `no table takes records whose ${keyText(key)} is "${cut(text)}"`;
  return { reason: 'no-table', message: why === undefined ? message : `${message}, and ${why}` };
}

/** Keys that patterns have been asked about are remembered, so many at most. */
const maxRemembered = 10_000;
/** Longer keys match no pattern. */
const maxPatternedLength = 1_000;

/**
 * Says which table takes a record. Records are put in one by one, and `take` tells of all since the last time: members are read in columns, as rows
 * are. For one thread.
 */
export class DivisionKeys {
  readonly #key: DivisionKey;
  readonly #parts: readonly DivisionPart[];
  readonly #patterns: readonly (RegExp | undefined)[];
  readonly #byKey = new Map<string, Assignment>();
  readonly #template: DivisionTemplate | undefined;
  #topic = '';
  readonly #types: RecordTypes | undefined;
  readonly #decoder: RecordDecoder | undefined;
  readonly #keyed: boolean;
  #found: (Assignment | undefined)[] = [];

  /** @throws ServiceError as `RecordDecoder`; SyntaxError for a pattern that is none. */
  constructor({ key, value, parts, template, keyed = false }: Omit<DivisionSpec, 'unmatched'>, options: DivisionKeysOptions) {
    this.#key = key;
    this.#parts = parts;
    this.#template = template;
    this.#keyed = keyed;
    if (key.kind === 'record-type' && hasRecordTypes(value)) this.#types = new RecordTypes(value, options.schemas);
    this.#patterns = parts.map(({ pattern }) => (pattern === undefined ? undefined : wholePattern(pattern, 'u')));
    const { schema, member } = columnOf(key);
    if (member !== undefined)
      this.#decoder = new RecordDecoder(schema, { sources: [{ kind: 'value', name: member }], unknownMembers: 'ignore', value }, options);
  }

  startPartition(topic: string, partition: number): void {
    this.#topic = topic;
    this.#decoder?.startPartition(topic, partition);
    this.#decoder?.reset();
    this.#found = [];
  }

  put(record: SourceRecord): void {
    this.#found.push(this.#read(record));
  }

  /** For every record of a topic, where topics say which table. */
  ofTopic(topic: string): Assignment {
    return this.#assign(topic);
  }

  /** For each record since `startPartition`, in order. */
  take(): readonly Assignment[] {
    const found = this.#found;
    this.#found = [];
    if (this.#decoder === undefined) return found.map((assignment) => assignment ?? this.#assign(undefined));
    const column = this.#decoder.finish().columns[0];
    let row = 0;
    return found.map((assignment) => assignment ?? this.#assign(textAt(column, row++)));
  }

  /** `undefined`: its key is in the next row of the column. */
  #read(record: SourceRecord): Assignment | undefined {
    const key = this.#key;
    switch (key.kind) {
      case 'member': {
        const refusal = this.#decoder?.decode(record);
        return refusal === undefined || !this.#keyed ? refusal : truncationAs(refusal, 'reject');
      }
      case 'header': {
        const value = record.headers().findLast(([name]) => name === key.name)?.[1];
        return this.#assign(value === undefined ? undefined : utf8.decode(value));
      }
      case 'record-type': {
        const found = present(this.#types, 'records divided by their type have one').of(record);
        return typeof found === 'string' ? this.#assign(found) : found;
      }
      case 'topic':
        return this.#assign(this.#topic);
      default:
        return assertNever(key);
    }
  }

  #assign(text: string | undefined): Assignment {
    if (text === undefined)
      return { reason: 'no-table', message: `${keyText(this.#key)} is missing or null, and says which table the record is for` };
    const known = this.#byKey.get(text);
    if (known !== undefined) return known;
    const found = this.#find(text);
    if (this.#byKey.size >= maxRemembered) this.#byKey.clear();
    this.#byKey.set(text, found);
    return found;
  }

  #find(text: string): Assignment {
    const found = this.#parts.findIndex(
      ({ values }, index) => values.includes(text) || (text.length <= maxPatternedLength && this.#patterns[index]?.test(text) === true),
    );
    if (found >= 0) return found;
    const template = this.#template;
    if (template === undefined) return noTable(this.#key, text);
    const name = madeName(template.table, text);
    if (name === undefined) return noTable(this.#key, text, 'it makes no name of a table');
    const owner = this.#parts.find(({ table }) => table === name)?.values[0];
    if (owner !== undefined) return noTable(this.#key, text, `"${name}" is the table of the key "${cut(owner)}"`);
    if (template.reserved?.includes(name) === true) return noTable(this.#key, text, `the name "${name}" is taken by another table`);
    if (template.isFull === true)
      return noTable(this.#key, text, `${template.max} tables are made already, as many as \`divide.template.max\` allows`);
    return { wanted: text };
  }
}

/** The one column that keys are read to. */
function columnOf(key: DivisionKey): { readonly schema: StructType; readonly member: string | undefined } {
  if (key.kind !== 'member') return { schema: { kind: 'struct', fields: [] }, member: undefined };
  const [member, ...below] = key.path;
  const type = below.reduceRight<DataType>((inner, name) => ({ kind: 'struct', fields: [{ name, type: inner, nullable: true }] }), {
    kind: key.type,
  });
  return { schema: { kind: 'struct', fields: [{ name: keyText(key), type, nullable: true }] }, member };
}

function textAt(column: Column | undefined, row: number): string | undefined {
  if (column === undefined || !isValid(column, row)) return undefined;
  switch (column.layout) {
    case 'struct':
      return textAt(column.children[0], row);
    case 'fixed':
      return String(column.values[row]);
    case 'boolean':
      return bitAt(column.bits, row) ? 'true' : 'false';
    case 'bytes':
      return utf8.decode(column.data.subarray(column.offsets[row], column.offsets[row + 1]));
    default:
      return undefined;
  }
}

const maxShown = 64;

function cut(text: string): string {
  const kept = text.length <= maxShown ? text : `${text.slice(0, maxShown)}…`;
  return kept.replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd');
}

const utf8 = new TextDecoder();
