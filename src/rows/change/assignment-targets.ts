import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import { fieldNamed } from '../../schema/column-path.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { Assignment } from '../../table/row-operations.ts';
import type { RowTarget } from '../row-target.ts';

/** A new value for a column, or for members of a struct column. */
export type ColumnValue =
  | { readonly kind: 'whole'; readonly value: Expression }
  | { readonly kind: 'members'; readonly members: ReadonlyMap<string, ColumnValue> };

/** A column that is assigned to, by its own name, with the place of every value in it. */
export interface AssignedColumn {
  readonly field: Field;
  readonly value: ColumnValue;
}

/** Resolves a name that stands for a column which is not there. */
type UnknownColumn = (path: readonly string[]) => AnalysisException;

/**
 * Finds what assignments change, ignoring case, in table order.
 *
 * @throws AnalysisException `conflictingTargets` of the table's errors when two of them meet, `FIELD_NOT_FOUND` (42704) for an unknown struct
 * member, `memberOfNoStruct`, what the table refuses to have assigned, and what `unknown` makes of a column that is not there.
 */
export function assignedColumns(
  table: RowTarget,
  schema: StructType,
  given: { readonly assignments: readonly Assignment[]; readonly unknown: UnknownColumn; readonly action?: 'insert' | 'update' },
): readonly AssignedColumn[] {
  const { assignments, unknown, action = 'update' } = given;
  const root: Members = { kind: 'members', members: new Map() };
  for (const { target, value } of assignments) place(root, schema, { table, target, value, unknown, action, all: assignments });
  return schema.fields.flatMap((field) => {
    const value = root.members.get(field.name);
    return value === undefined ? [] : [{ field, value }];
  });
}

interface Members {
  readonly kind: 'members';
  readonly members: Map<string, { readonly kind: 'whole'; readonly value: Expression } | Members>;
}

interface Placing {
  readonly table: RowTarget;
  readonly target: readonly string[];
  readonly action: 'insert' | 'update';
  readonly value: Expression;
  readonly unknown: UnknownColumn;
  readonly all: readonly Assignment[];
}

function place(root: Members, schema: StructType, placing: Placing): void {
  let node = root;
  let type: DataType = schema;
  for (const [depth, name] of placing.target.entries()) {
    // Spark looks into lists of structs by name, though nothing in them can be assigned to.
    if (type.kind === 'list' && type.element.kind === 'struct' && fieldNamed(type.element.fields, name) === undefined) {
      throw unknownMember(type.element, name);
    }
    if (type.kind !== 'struct') throw placing.table.errors.memberOfNoStruct(placing.target.slice(0, depth), type);
    const field = fieldNamed(type.fields, name);
    if (field === undefined) throw depth === 0 ? placing.unknown(placing.target) : unknownMember(type, name);
    const refusal = placing.table.refusalOfAssignment(field, placing.action);
    if (refusal !== undefined) throw refusal;
    const present = node.members.get(field.name);
    if (depth === placing.target.length - 1) {
      if (present !== undefined) throw placing.table.errors.conflictingTargets(placing.all);
      node.members.set(field.name, { kind: 'whole', value: placing.value });
      return;
    }
    if (present?.kind === 'whole') throw placing.table.errors.conflictingTargets(placing.all);
    const next: Members = present ?? { kind: 'members', members: new Map() };
    node.members.set(field.name, next);
    node = next;
    type = field.type;
  }
}

/** Targets may be qualified: `SET t.v = 1`. */
export function withoutAlias(assignment: Assignment, alias: string | undefined, schema: StructType): Assignment {
  const [first = '', second] = assignment.target;
  const qualified = alias !== undefined && second !== undefined && first.toLowerCase() === alias.toLowerCase();
  return qualified && fieldNamed(schema.fields, second) !== undefined ? { ...assignment, target: assignment.target.slice(1) } : assignment;
}

function unknownMember(struct: StructType, name: string): AnalysisException {
  const fields = struct.fields.map((field) => `\`${field.name}\``).join(', ');
  return new AnalysisException({
    errorClass: 'FIELD_NOT_FOUND',
    message: `No such struct field \`${name}\` in ${fields}.`,
    parameters: { fieldName: `\`${name}\``, fields },
  });
}
