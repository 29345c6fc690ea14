import { type ConversionRule, sameShape, widens } from '../../rows/values/convert-value.ts';
import { fieldNamed } from '../../schema/column-path.ts';
import { evolvesTo } from '../../schema/evolves-to.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import { failedToMerge } from '../files/conversion-errors.ts';
import type { StructRule } from './structs-by-place.ts';

interface MergeRules {
  readonly matchBy: 'name' | 'position';
  readonly rule: ConversionRule;
  readonly structsByPlace: StructRule;
  /** Whether a column may take a wider type of the data. */
  readonly widen: boolean;
}

/** A column that takes a wider type. */
interface Widening {
  /** `element`, `key` and `value` enter lists and maps. */
  readonly path: readonly string[];
  readonly to: DataType;
}

/** A table's schema with what the data has beyond it. */
export interface MergedSchema {
  /** With the columns the data adds, in the types the table has. */
  readonly schema: StructType;
  readonly addsColumns: boolean;
  readonly widenings: readonly Widening[];
}

/**
 * The table's columns, then those only the data has: nullable, in the data's order, members of structs at the end of their struct. Names
 * match ignoring case and keep the table's spelling.
 *
 * @throws AnalysisException `DELTA_FAILED_TO_MERGE_FIELDS` (22005) for types that do not fit.
 */
export function mergeSchemas(table: StructType, data: StructType, rules: MergeRules): MergedSchema {
  const merger = new Merger(rules);
  const schema = merger.struct(table, data, { path: [], byPosition: rules.matchBy === 'position' });
  return { schema, addsColumns: merger.addsColumns, widenings: merger.widenings };
}

/** A column of data as a column of a table: nullable at every level, without what belongs to the table it was read from. */
export function newColumn(field: Field): Field {
  const kept = Object.entries(field.metadata ?? {}).filter(([key]) => !key.startsWith('delta.') && !key.endsWith('_DEFAULT'));
  const { name, type } = field;
  return { name, type: newType(type), nullable: true, ...(kept.length === 0 ? {} : { metadata: Object.fromEntries(kept) }) };
}

function newType(type: DataType): DataType {
  switch (type.kind) {
    case 'struct':
      return { kind: 'struct', fields: type.fields.map(newColumn) };
    case 'list':
      return { kind: 'list', element: newType(type.element), elementNullable: true };
    case 'map':
      return { kind: 'map', key: newType(type.key), value: newType(type.value), valueNullable: true };
    default:
      return type;
  }
}

interface MergePlace {
  readonly path: readonly string[];
  readonly byPosition: boolean;
}

class Merger {
  readonly #rules: MergeRules;
  addsColumns = false;
  readonly widenings: Widening[] = [];

  constructor(rules: MergeRules) {
    this.#rules = rules;
  }

  struct(table: StructType, data: StructType, at: MergePlace): StructType {
    const fields = table.fields.map((field, index) => {
      const given = at.byPosition ? data.fields[index] : fieldNamed(data.fields, field.name);
      if (given === undefined) return field;
      const byPosition = at.path.length === 0 ? this.#rules.structsByPlace(field, given.type) : at.byPosition;
      return this.#field(field, given.type, { path: [...at.path, field.name], byPosition });
    });
    const extra = at.byPosition
      ? data.fields.slice(table.fields.length)
      : data.fields.filter((field) => fieldNamed(table.fields, field.name) === undefined);
    if (extra.length > 0) this.addsColumns = true;
    return { kind: 'struct', fields: [...fields, ...extra.map(newColumn)] };
  }

  #field(field: Field, given: DataType, at: MergePlace): Field {
    const type = this.#type(field.type, given, at);
    return type === field.type ? field : { ...field, type };
  }

  #type(table: DataType, given: DataType, at: MergePlace): DataType {
    if (sameShape(table, given)) return table;
    const inner = (part: string): MergePlace => ({ ...at, path: [...at.path, part] });
    if (table.kind === 'struct' && given.kind === 'struct') return this.struct(table, given, at);
    if (table.kind === 'list' && given.kind === 'list') {
      return { ...table, element: this.#type(table.element, given.element, inner('element')) };
    }
    if (table.kind === 'map' && given.kind === 'map') {
      return { ...table, key: this.#type(table.key, given.key, inner('key')), value: this.#type(table.value, given.value, inner('value')) };
    }
    return this.#leaf(table, given, at.path);
  }

  #leaf(table: DataType, given: DataType, path: readonly string[]): DataType {
    if (this.#rules.widen && evolvesTo(table, given)) {
      this.widenings.push({ path, to: given });
      return table;
    }
    if (this.#rules.rule === 'cast' || widens(given, table)) return table;
    // An untyped null arrives as an integer; the rows decide.
    if (given.kind === 'integer') return table;
    throw failedToMerge(path);
  }
}
