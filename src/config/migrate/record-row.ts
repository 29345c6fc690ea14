import type { DataType } from '../../schema/types.ts';
import { quoted } from '../../session/execute/sql-text.ts';
import type { PlannedColumn } from './sink-plan.ts';

/** A field of a record on its way through transforms. */
export interface RowField {
  /** Over the columns of the record. */
  readonly sql: string;
  /** `undefined`: not known. */
  readonly type: DataType | undefined;
}

/**
 * What transforms make of a record's fields, as a select list. Of a record whose columns are known its fields are those; of another one it is
 * `*`, with what was taken out and what was put in.
 */
export class RecordRow {
  readonly #record: readonly PlannedColumn[] | undefined;
  #fields: Map<string, RowField>;
  readonly #taken = new Set<string>();
  #rest: boolean;

  constructor(record: readonly PlannedColumn[] | undefined) {
    this.#record = record;
    this.#fields = new Map((record ?? []).map(({ name, type }) => [name, { sql: quoted(name), type }]));
    this.#rest = record === undefined;
  }

  /** Whether the columns of the record are known. */
  get isKnown(): boolean {
    return this.#record !== undefined;
  }

  get record(): readonly PlannedColumn[] {
    return this.#record ?? [];
  }

  get names(): readonly string[] {
    return [...this.#fields.keys()];
  }

  /** A field, or a member of one, by its path with dots; `undefined`: there is none, as far as is known. */
  field(path: string): RowField | undefined {
    const whole = this.#fields.get(path);
    if (whole !== undefined) return whole;
    const [first = '', ...inner] = path.split('.');
    const outer = this.#fields.get(first) ?? (this.#rest && !this.#taken.has(first) ? { sql: quoted(first), type: undefined } : undefined);
    if (outer === undefined) return undefined;
    return inner.reduce<RowField | undefined>((around, name) => (around === undefined ? undefined : memberOf(around, name)), outer);
  }

  set(name: string, field: RowField): void {
    if (this.#rest && !this.#fields.has(name)) this.#taken.add(name);
    this.#fields.set(name, field);
  }

  /** A field that records do not have. */
  insert(name: string, field: RowField): void {
    this.#fields.set(name, field);
  }

  remove(name: string): void {
    this.#fields.delete(name);
    if (this.#rest) this.#taken.add(name);
  }

  /** These fields and no others. */
  replace(fields: readonly (readonly [name: string, field: RowField])[]): void {
    this.#fields = new Map(fields);
    this.#rest = false;
  }

  /** The select list; `undefined`: every field is the record's own. */
  get select(): readonly string[] | undefined {
    const named = [...this.#fields].map(([name, { sql }]) => (sql === quoted(name) ? sql : `${sql} AS ${quoted(name)}`));
    if (this.#rest) {
      if (named.length === 0 && this.#taken.size === 0) return undefined;
      return [this.#taken.size === 0 ? '*' : `* EXCEPT (${[...this.#taken].map(quoted).join(', ')})`, ...named];
    }
    const own = (this.#record ?? []).map(({ name }) => quoted(name));
    return this.#record !== undefined && named.length === own.length && named.every((item, index) => item === own[index])
      ? undefined
      : named;
  }

  /** The fields with their types; those of unknown types have none. */
  get fields(): readonly (readonly [name: string, type: DataType | undefined])[] {
    return [...this.#fields].map(([name, { type }]) => [name, type]);
  }
}

function memberOf({ sql, type }: RowField, name: string): RowField | undefined {
  const path = `${sql}.${quoted(name)}`;
  if (type === undefined) return { sql: path, type: undefined };
  if (type.kind !== 'struct') return undefined;
  const member = type.fields.find((candidate) => candidate.name === name);
  return member === undefined ? undefined : { sql: path, type: member.type };
}
