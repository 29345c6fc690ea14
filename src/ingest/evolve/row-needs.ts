import { widerNumber } from '../../expr/wider-number.ts';
import { type EvolutionSpec, needText, type TableNeed } from '../../protocol/table-needs.ts';
import { evolvesTo } from '../../schema/evolves-to.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import { type FoundRow, type LeftMember, refusedInNames } from '../infer/found-row.ts';

/** A member of payloads, and the column that takes it. */
export interface TakenMember {
  readonly name: string;
  readonly label: string;
  readonly type: DataType;
}

/** The table that rows are for. */
export interface EvolvingRow {
  readonly schema: StructType;
  /** Members of payloads that columns take. */
  readonly members: readonly TakenMember[];
  /** Change events: names that begin with `__` are those of the event, not of its row. */
  readonly isEvent: boolean;
}

/** What a row calls for, and what of it no column can take. */
export interface RowNeeds {
  readonly needs: readonly TableNeed[];
  readonly left: readonly LeftMember[];
}

/**
 * What makes room for a row in its table, as far as the policy allows. `inferred`: types are those of the values that were seen, whole numbers the least
 * that hold them; new columns are longs then, and no other numbers widen.
 */
export function rowNeeds(found: FoundRow, row: EvolvingRow, spec: EvolutionSpec, inferred: boolean): RowNeeds {
  const planner = new Planner(row, spec, inferred);
  planner.members(found);
  return { needs: planner.needs, left: planner.left };
}

/** What makes a table as its configuration declares it, as far as the policy allows. */
export function declaredNeeds(declared: StructType, table: StructType, spec: EvolutionSpec): readonly TableNeed[] {
  const members = table.fields.map(({ name, type }) => ({ name, label: name, type }));
  const { needs } = rowNeeds({ columns: declared.fields, left: [] }, { schema: table, members, isEvent: false }, spec, false);
  const nullable = new Set(declared.fields.flatMap((field) => (field.nullable ? [field.name] : [])));
  const required = table.fields.filter((field) => !field.nullable && nullable.has(field.name));
  return spec.relaxRequired ? [...needs, ...required.map(({ name }): TableNeed => ({ kind: 'relax', path: [name] }))] : needs;
}

class Planner {
  readonly needs: TableNeed[] = [];
  readonly left: LeftMember[] = [];
  readonly #row: EvolvingRow;
  readonly #spec: EvolutionSpec;
  readonly #inferred: boolean;
  readonly #places = new Set<string>();
  #columnCount: number;

  constructor(row: EvolvingRow, spec: EvolutionSpec, inferred: boolean) {
    this.#row = row;
    this.#spec = spec;
    this.#inferred = inferred;
    this.#columnCount = countFields(row.schema.fields);
  }

  members(found: FoundRow): void {
    const { schema, members, isEvent } = this.#row;
    const taken = new Map(members.map((member) => [member.name, member]));
    const names = new Set(schema.fields.map(({ name }) => name.toLowerCase()));
    for (const { name, type } of found.columns) {
      const member = taken.get(name);
      if (member !== undefined) this.#type(member.type, type, [member.label]);
      else if (names.has(name.toLowerCase())) this.left.push({ name, why: 'a column of that name takes something else' });
      else if (isEvent && name.startsWith('__')) this.left.push({ name, why: 'names with two underscores are of the event' });
      else this.#add([], name, type);
    }
    this.left.push(...found.left.filter(({ name, isEmpty }) => !taken.has(name) && isEmpty !== true));
  }

  #type(has: DataType, found: DataType, path: readonly string[]): void {
    if (has.kind === 'struct' && found.kind === 'struct') this.#struct(has, found, path);
    else if (has.kind === 'list' && found.kind === 'list') this.#type(has.element, found.element, [...path, 'element']);
    else if (has.kind === 'map' && found.kind === 'map') this.#type(has.value, found.value, [...path, 'value']);
    // Values do not tell keys from members.
    else if (has.kind === 'map' && found.kind === 'struct')
      for (const { type } of found.fields) this.#type(has.value, type, [...path, 'value']);
    else this.#widen(has, found, path);
  }

  #struct(has: StructType, found: StructType, path: readonly string[]): void {
    for (const { name, type } of found.fields) {
      const known = has.fields.find((field) => field.name === name);
      if (known !== undefined) this.#type(known.type, type, [...path, name]);
      else if (has.fields.some((field) => field.name.toLowerCase() === name.toLowerCase()))
        this.left.push({ name: [...path, name].join('.'), why: 'another member differs in case alone' });
      else this.#add(path, name, type);
    }
  }

  #widen(has: DataType, found: DataType, path: readonly string[]): void {
    if (!this.#spec.widenTypes || (this.#inferred && !integers.has(has.kind))) return;
    const type = has.kind === 'decimal' && found.kind === 'decimal' ? (widerNumber(has, found) ?? found) : found;
    if (evolvesTo(has, type)) this.#need({ kind: 'widen', path, type });
  }

  #add(parent: readonly string[], name: string, type: DataType): void {
    if (!this.#spec.addColumns) return;
    const refuse = (why: string): void => {
      this.left.push({ name: [...parent, name].join('.'), why });
    };
    const added = countFields([{ name, type, nullable: true }]);
    if (name === '' || name.length > maxNameLength) refuse(`a column has a name of 1 to ${maxNameLength} characters`);
    else if (!this.#spec.anyNames && refusedInNames.test(name)) refuse('a name with characters that no column has');
    else if (parent.length === 0 && this.#spec.reservedNames.includes(name.toLowerCase()))
      refuse('readers of the format have a column of that name themselves');
    else if (this.#columnCount + added > this.#spec.maxColumns) refuse(`the table has its ${this.#spec.maxColumns} columns`);
    else if (this.#need({ kind: 'add-column', parent, field: { name, type: this.#stored(type), nullable: true } }))
      this.#columnCount += added;
  }

  /** Whether it is one: not refused before, and the first for its place. What is left of others shows when records are read again. */
  #need(need: TableNeed): boolean {
    const place = placeOf(need);
    if (this.#places.has(place) || this.#spec.refused.includes(needText(need))) return false;
    this.#places.add(place);
    this.needs.push(need);
    return true;
  }

  #stored(type: DataType): DataType {
    switch (type.kind) {
      case 'struct':
        return { ...type, fields: type.fields.map((field) => ({ ...field, type: this.#stored(field.type) })) };
      case 'list':
        return { ...type, element: this.#stored(type.element) };
      case 'map':
        return { ...type, key: this.#stored(type.key), value: this.#stored(type.value) };
      case 'byte':
      case 'short':
        return this.#inferred ? { kind: 'long' } : this.#spec.smallIntegers ? type : { kind: 'integer' };
      case 'integer':
        return this.#inferred ? { kind: 'long' } : type;
      default:
        return type;
    }
  }
}

const maxNameLength = 255;
const integers: ReadonlySet<DataType['kind']> = new Set(['byte', 'short', 'integer']);

/** Needs of one place exclude each other. */
export function placeOf(need: TableNeed): string {
  const path = need.kind === 'add-column' ? [...need.parent, need.field.name.toLowerCase()] : [need.kind, ...need.path];
  return path.join('\0');
}

function countFields(fields: readonly Field[]): number {
  return fields.reduce((sum, { type }) => sum + 1 + countWithin(type), 0);
}

function countWithin(type: DataType): number {
  if (type.kind === 'struct') return countFields(type.fields);
  if (type.kind === 'list') return countWithin(type.element);
  return type.kind === 'map' ? countWithin(type.key) + countWithin(type.value) : 0;
}

/** The paths of required columns and of what is required in them, by how messages print them: `a.b`, `tags[]`, `props{}`. */
export function requiredPaths(schema: StructType): ReadonlyMap<string, readonly string[]> {
  const paths = new Map<string, readonly string[]>();
  const visit = (type: DataType, nullable: boolean, path: readonly string[], text: string): void => {
    if (!nullable) paths.set(text, path);
    if (type.kind === 'struct')
      for (const field of type.fields)
        visit(field.type, field.nullable, [...path, field.name], text === '' ? field.name : `${text}.${field.name}`);
    else if (type.kind === 'list') visit(type.element, type.elementNullable, [...path, 'element'], `${text}[]`);
    else if (type.kind === 'map') visit(type.value, type.valueNullable, [...path, 'value'], `${text}{}`);
  };
  visit(schema, true, [], '');
  return paths;
}
