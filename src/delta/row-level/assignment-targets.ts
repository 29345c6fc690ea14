import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { Assignment } from '../../table/row-operations.ts';

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
 * @throws AnalysisException `DELTA_CONFLICT_SET_COLUMN` (42701) when two of them meet, `FIELD_NOT_FOUND` (42704) for an unknown struct
 * member, `DELTA_UNSUPPORTED_FIELD_UPDATE_NON_STRUCT` (0AKDC), `DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED` (42808), and what
 * `unknown` makes of a column that is not there.
 */
export function assignedColumns(schema: StructType, assignments: readonly Assignment[], unknown: UnknownColumn): readonly AssignedColumn[] {
  const root: Members = { kind: 'members', members: new Map() };
  for (const { target, value } of assignments) place(root, schema, { target, value, unknown, all: assignments });
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
  readonly target: readonly string[];
  readonly value: Expression;
  readonly unknown: UnknownColumn;
  readonly all: readonly Assignment[];
}

function place(root: Members, schema: StructType, placing: Placing): void {
  let node = root;
  let type: DataType = schema;
  for (const [depth, name] of placing.target.entries()) {
    if (type.kind !== 'struct') throw notAStruct(placing.target.slice(0, depth), type);
    const field = findField(type, name);
    if (field === undefined) throw depth === 0 ? placing.unknown(placing.target) : unknownMember(type, name);
    if (field.metadata?.['delta.identity.start'] !== undefined) throw identityAssigned(field);
    const present = node.members.get(field.name);
    if (depth === placing.target.length - 1) {
      if (present !== undefined) throw conflicting(placing.all);
      node.members.set(field.name, { kind: 'whole', value: placing.value });
      return;
    }
    if (present?.kind === 'whole') throw conflicting(placing.all);
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
  return qualified && findField(schema, second) !== undefined ? { ...assignment, target: assignment.target.slice(1) } : assignment;
}

/** Finds a column or member as users name it: ignoring case. */
export function findField(struct: StructType, name: string): Field | undefined {
  const lower = name.toLowerCase();
  return struct.fields.find((field) => field.name === name) ?? struct.fields.find((field) => field.name.toLowerCase() === lower);
}

function conflicting(assignments: readonly Assignment[]): AnalysisException {
  const columnList = `[${assignments.map(({ target }) => `\`${target.join('.')}\``).join(', ')}]`;
  return new AnalysisException({
    errorClass: 'DELTA_CONFLICT_SET_COLUMN',
    sqlState: '42701',
    message: `There is a conflict from these SET columns: ${columnList}.`,
    parameters: { columnList },
  });
}

function unknownMember(struct: StructType, name: string): AnalysisException {
  const fields = struct.fields.map((field) => `\`${field.name}\``).join(', ');
  return new AnalysisException({
    errorClass: 'FIELD_NOT_FOUND',
    sqlState: '42704',
    message: `No such struct field \`${name}\` in ${fields}.`,
    parameters: { fieldName: `\`${name}\``, fields },
  });
}

function notAStruct(path: readonly string[], type: DataType): AnalysisException {
  const columnName = path.join('.');
  return new AnalysisException({
    errorClass: 'DELTA_UNSUPPORTED_FIELD_UPDATE_NON_STRUCT',
    kind: 'unsupported',
    sqlState: '0AKDC',
    message: `Updating nested fields is only supported for StructType, but you are trying to update a field of \`${columnName}\`, which is of type: ${type.kind}.`,
    parameters: { columnName, dataType: type.kind },
  });
}

function identityAssigned(field: Field): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED',
    sqlState: '42808',
    message: `UPDATE on IDENTITY column ${field.name} is not supported.`,
    parameters: { colName: field.name },
  });
}
