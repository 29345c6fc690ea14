import { describeType } from '../schema/describe-type.ts';
import type { DataType, Field } from '../schema/types.ts';

/**
 * A change of a table's columns that its records call for: every row that is there stays as it is. Paths as in `DefinitionChange`: `element`, `key` and
 * `value` enter lists and maps.
 */
export type TableNeed =
  | { readonly kind: 'add-column'; readonly parent: readonly string[]; readonly field: Field }
  | { readonly kind: 'widen'; readonly path: readonly string[]; readonly type: DataType }
  | { readonly kind: 'relax'; readonly path: readonly string[] };

/** What of a table its records may change (`tables[].evolve`). */
export interface EvolutionPolicy {
  /** Members that no column takes become columns, and members of structs. */
  readonly addColumns: boolean;
  /** Types grow. */
  readonly widenTypes: boolean;
  /** Required columns become nullable. */
  readonly relaxRequired: boolean;
  /** Columns with all members of structs; a table that has as many gets no more. */
  readonly maxColumns: number;
}

/** The policy as a thread needs it that decodes records: plain data. */
export interface EvolutionSpec extends EvolutionPolicy {
  /** What the table's format has; see its traits. */
  readonly timesOfDay: boolean;
  readonly anyNames: boolean;
  readonly reservedNames: readonly string[];
  readonly smallIntegers: boolean;
  /** Needs that the table did not take, as `needText` has them. */
  readonly refused: readonly string[];
}

/** A need in words, which tell it from every other: `column "a.b" bigint is added`. */
export function needText(need: TableNeed): string {
  switch (need.kind) {
    case 'add-column':
      return `column "${[...need.parent, need.field.name].join('.')}" ${describeType(need.field.type)} is added`;
    case 'widen':
      return `column "${need.path.join('.')}" becomes ${describeType(need.type)}`;
    case 'relax':
      return `column "${need.path.join('.')}" becomes nullable`;
  }
}
