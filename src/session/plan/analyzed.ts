import { settledType } from '../../expr/common-type.ts';
import type { Expression, SortKey } from '../../expr/expression.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { MetadataTable } from '../../table/queries.ts';
import type { Relation } from '../../table/relation.ts';
import type { QueryableTable, Snapshot } from '../../table/table.ts';
import type { Version } from '../../table/version.ts';
import type { FileSource, GroupElement, JoinKind, Plan, ReadPoint, SetOperation, StreamRead } from './plan.ts';

/** An output column of a node. The id is unique in one analysis and names the column in the engine's text. */
export interface Attribute {
  readonly id: string;
  readonly field: Field;
  /** The table or alias it may be qualified with. */
  readonly qualifier?: string | undefined;
  /** The DataFrames that have it as a column of theirs. */
  readonly frames: readonly string[];
  /** Hidden, and found by its qualifier only: the side of a join by name that is not shown. */
  readonly qualifiedOnly?: boolean | undefined;
}

/** A value under an output's id; its columns are attributes of the input, their paths beginning with the id. */
export interface Output {
  readonly attribute: Attribute;
  readonly value: Expression;
}

/** The columns that expressions over a node may name. */
export interface Nameable {
  readonly attributes: readonly Attribute[];
  /**
   * Columns that no star shows and no schema has; a name means them where no attribute has it. Not among the rows of the node until
   * `withNamedHidden` puts those that are used among the attributes.
   */
  readonly hidden?: readonly Attribute[] | undefined;
}

/** What a recursive query may not exceed. */
export interface RecursionLimits {
  /** How often rows are made of those before. */
  readonly levels: number;
  readonly rows: number;
}

/** A query that a query names, and how often it is mentioned. */
export interface NamedQuery {
  /** In the engine's text. */
  readonly id: string;
  readonly columns: readonly string[] | undefined;
  /** Analyzed when first mentioned. */
  readonly analyzed: () => Promise<Analyzed>;
  mentions: number;
}

/** A plan whose names are found and whose columns have types. Column paths in expressions begin with an attribute's id. */
export type Analyzed = Nameable &
  (
    | {
        readonly kind: 'table';
        readonly table: QueryableTable;
        readonly snapshot: Snapshot;
        /** Asked for, in place of the newest. */
        readonly at: ReadPoint | undefined;
        /** Only rows that appends added after this snapshot. */
        readonly appendedAfter: bigint | undefined;
      }
    | { readonly kind: 'metadata'; readonly rows: MetadataTable }
    | {
        readonly kind: 'changes';
        readonly table: QueryableTable;
        readonly schema: StructType;
        /** Both included; `undefined`: no versions. */
        readonly range: { readonly from: Version; readonly until: Version } | undefined;
      }
    | { readonly kind: 'rows'; readonly schema: StructType; readonly batches: readonly ColumnBatch[] }
    | { readonly kind: 'made'; readonly plan: Plan & { readonly kind: 'made' } }
    /** A stream that no query runs. */
    | { readonly kind: 'stream'; readonly stream: StreamRead }
    | { readonly kind: 'relation'; readonly relation: Relation }
    | { readonly kind: 'files'; readonly source: FileSource; readonly relation: Relation }
    | { readonly kind: 'with'; readonly queries: readonly NamedQuery[]; readonly input: Analyzed }
    | { readonly kind: 'mention'; readonly query: NamedQuery; readonly definition: Analyzed }
    | { readonly kind: 'one-row' }
    | { readonly kind: 'values'; readonly rows: readonly (readonly Expression[])[] }
    | { readonly kind: 'range'; readonly bounds: readonly Expression[] }
    | { readonly kind: 'project'; readonly outputs: readonly Output[]; readonly input: Analyzed }
    /** Each row joined with the rows that a generator makes of it. */
    | {
        readonly kind: 'generate';
        readonly name: string;
        readonly argument: Expression;
        /** A row of NULLs where it makes none. */
        readonly outer: boolean;
        readonly made: readonly Attribute[];
        readonly input: Analyzed;
      }
    | { readonly kind: 'filter'; readonly condition: Expression; readonly input: Analyzed }
    | { readonly kind: 'sort'; readonly keys: readonly SortKey[]; readonly input: Analyzed }
    | { readonly kind: 'limit'; readonly count: Expression | undefined; readonly offset: Expression | undefined; readonly input: Analyzed }
    | { readonly kind: 'sample'; readonly fraction: number; readonly seed: number; readonly input: Analyzed }
    | {
        readonly kind: 'aggregate';
        readonly groups: readonly GroupElement[];
        readonly having?: Expression | undefined;
        readonly outputs: readonly Output[];
        readonly input: Analyzed;
      }
    | {
        readonly kind: 'join';
        readonly join: JoinKind;
        readonly condition: Expression | undefined;
        readonly lateral?: boolean | undefined;
        readonly left: Analyzed;
        readonly right: Analyzed;
      }
    | { readonly kind: 'set'; readonly operation: SetOperation; readonly left: Analyzed; readonly right: Analyzed }
    /** Rows of `left`, then those that `right` makes of the rows before, which it mentions as `id`. */
    | {
        readonly kind: 'recursion';
        readonly id: string;
        readonly limits: RecursionLimits;
        readonly left: Analyzed;
        readonly right: Analyzed;
      }
    /** `keys`: ids; all columns when absent. */
    | { readonly kind: 'distinct'; readonly keys?: readonly string[] | undefined; readonly input: Analyzed }
  );

/** What a node is made of; a mention of a query that has a name is a leaf. */
export function inputsOf(plan: Analyzed): readonly Analyzed[] {
  if ('left' in plan) return [plan.left, plan.right];
  return 'input' in plan ? [plan.input] : [];
}

/** Every column there is a name for. */
export function nameable({ attributes, hidden }: Nameable): readonly Attribute[] {
  return hidden === undefined || hidden.length === 0 ? attributes : [...attributes, ...hidden];
}

/** The column of an attribute as an expression. */
export function attributeColumn(attribute: Attribute): Extract<Expression, { readonly kind: 'column' }> {
  return { kind: 'column', path: [attribute.id], type: attribute.field.type };
}

/** The columns of a result; one of which only NULLs are known is one of numbers. */
export function schemaOf(attributes: readonly Attribute[]): StructType {
  return { kind: 'struct', fields: attributes.map(({ field }) => ({ ...field, type: settledType(field.type) })) };
}
