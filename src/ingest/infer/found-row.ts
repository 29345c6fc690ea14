import type { DataType, Field } from '../../schema/types.ts';

/** A column that a payload's member, or a schema's field, may fill. */
export interface FoundColumn {
  readonly name: string;
  readonly type: DataType;
  /** What a person should know of the choice. */
  readonly note?: string | undefined;
}

/** A member that fills no column, and why. */
export interface LeftMember {
  readonly name: string;
  readonly why: string;
  /** No record has a value in it. */
  readonly isEmpty?: boolean | undefined;
}

/** What a topic's payloads hold, as columns. */
export interface FoundRow {
  readonly columns: readonly FoundColumn[];
  readonly left: readonly LeftMember[];
}

/** A type for a member, or why there is none. */
export type FoundType = { readonly type: DataType; readonly note?: string | undefined } | Omit<LeftMember, 'name'>;

/** What the columns of the table to come may be, which its format says. */
export interface ColumnLimits {
  /** Whether there is a type of times of day. */
  readonly timesOfDay: boolean;
  /** Whether names may hold blanks, commas and the like; a column is called otherwise then, and a member of a struct cannot be. */
  readonly anyNames: boolean;
}

/** Characters that a Delta table without column mapping takes in no name. */
export const refusedInNames: RegExp = /[ ,;{}()\n\t=]/u;
const unnameable: FoundType = { why: 'a name with characters that no column has' };

/** One member as a row of one column, or of none. */
export function rowOf(members: Iterable<readonly [name: string, found: FoundType]>): FoundRow {
  const columns: FoundColumn[] = [];
  const left: LeftMember[] = [];
  const names = new Set<string>();
  for (const [name, found] of members) {
    const lower = name.toLowerCase();
    if ('why' in found) left.push({ name, ...found });
    else if (names.has(lower)) left.push({ name, why: 'another member differs in case alone: name the column otherwise, with `member`' });
    else {
      names.add(lower);
      columns.push({ name, ...found });
    }
  }
  return { columns, left };
}

/** A struct of those members that have a type; the others are told. */
export function structOf(members: Iterable<readonly [name: string, found: FoundType]>, limits: ColumnLimits): FoundType {
  const { columns, left } = rowOf(
    [...members].map(([name, found]) => [name, limits.anyNames || !refusedInNames.test(name) ? found : unnameable]),
  );
  if (columns.length === 0) return { why: left[0] === undefined ? 'an object without members' : `${left[0].name}: ${left[0].why}` };
  const fields = columns.map(({ name, type }): Field => ({ name, type, nullable: true }));
  const notes = [
    ...columns.flatMap(({ name, note }) => (note === undefined ? [] : [`${name}: ${note}`])),
    ...left.map(({ name, why }) => `without ${name} (${why})`),
  ];
  return { type: { kind: 'struct', fields }, ...(notes.length === 0 ? {} : { note: notes.join('; ') }) };
}

export function listOf(element: FoundType): FoundType {
  return 'why' in element ? element : { ...element, type: { kind: 'list', element: element.type, elementNullable: true } };
}

export function mapOf(value: FoundType): FoundType {
  if ('why' in value) return value;
  return { ...value, type: { kind: 'map', key: { kind: 'string' }, value: value.type, valueNullable: true } };
}
