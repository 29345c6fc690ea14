import { AnalysisException } from '../../base/analysis-exception.ts';
import { declaredType } from '../../rows/values/length-checks.ts';
import { type FoundColumn, findColumn, withFieldAt, withTypeAt } from '../../schema/column-path.ts';
import { declaredMetadata, declaredTypeKey } from '../../schema/declared-length.ts';
import { describeType } from '../../schema/describe-type.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { plainTypeName } from '../schema-json.ts';
import { typeChangesKey } from '../type-changes.ts';
import { changeColumn, changedField } from './change-columns.ts';
import { checkTypeIsFree } from './dependent-columns.ts';
import type { PlannedChange } from './planned-change.ts';

/**
 * ALTER COLUMN … TYPE: types may grow where the table has type widening; files stay as they are and the column remembers what it was.
 *
 * @throws AnalysisException `NOT_SUPPORTED_CHANGE_COLUMN` (0A000) for a type that cannot hold all values of the old one,
 * `DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP` (0AKDC) for a wider type that the table does not allow, `CANNOT_UPDATE_FIELD` (0A000) for
 * structs, lists and maps, what `findColumn` throws, what depends on the column.
 */
export function changeType(
  snapshot: DeltaSnapshot,
  change: { readonly path: readonly string[]; readonly type: DataType },
  table: string,
): PlannedChange | undefined {
  const found = findColumn(snapshot.schema, change.path);
  const [from, to] = [found.type, change.type];
  if (from.kind === 'string' && to.kind === 'string') {
    const changed = changeLength(snapshot, found, to);
    if (changed === 'refused') throw narrowing(table, found, to);
    return changed;
  }
  if (describeType(from) === describeType(to)) return undefined;
  if (isNested(from) || isNested(to)) throw nested(found, from);
  if (!canUpCast(from, to)) throw narrowing(table, found, to);
  if (!snapshot.settings.typeWidening || !canWiden(from, to)) throw notWidened(found, to);
  checkTypeIsFree(snapshot, found.path, from, to);
  const schema = widened(snapshot.schema, found, to);
  const shown: Field = { ...found.field, name: found.path.at(-1) ?? found.field.name, type: to };
  return changeColumn(found.path, shown, schema);
}

/** Whether files with the narrower type can be read as the wider one (the protocol's list of type changes). */
export function canWiden(from: DataType, to: DataType): boolean {
  const steps: Partial<Record<DataType['kind'], readonly DataType['kind'][]>> = {
    byte: ['short', 'integer', 'long', 'double'],
    short: ['integer', 'long', 'double'],
    integer: ['long', 'double'],
    float: ['double'],
    date: ['timestamp_ntz'],
  };
  if (to.kind === 'decimal') {
    const held = from.kind === 'decimal' ? from : integerDigits(from);
    return held !== undefined && to.scale >= held.scale && to.precision - to.scale >= held.precision - held.scale && !sameDecimal(from, to);
  }
  return steps[from.kind]?.includes(to.kind) === true;
}

/** The schema with the wider type, and the change noted in the column, as every writer that widens must. */
export function widened(schema: StructType, found: FoundColumn, to: DataType): StructType {
  const columnPath = found.inner.length === 0 ? found.path : found.path.slice(0, -found.inner.length);
  const noted = {
    toType: plainTypeName(to),
    fromType: plainTypeName(found.type),
    ...(found.inner.length === 0 ? {} : { fieldPath: found.inner.join('.') }),
  };
  return withFieldAt(
    withTypeAt(schema, found.path, () => to),
    columnPath,
    (field) => {
      const before: unknown = field.metadata?.[typeChangesKey];
      const changes: readonly unknown[] = Array.isArray(before) ? before : [];
      return { ...field, metadata: { ...field.metadata, [typeChangesKey]: [...changes, noted] } };
    },
  );
}

/** Digits that any value of an integer type may take; the protocol's figures. */
function integerDigits(type: DataType): { readonly precision: number; readonly scale: number } | undefined {
  if (type.kind === 'byte' || type.kind === 'short' || type.kind === 'integer') return { precision: 10, scale: 0 };
  return type.kind === 'long' ? { precision: 20, scale: 0 } : undefined;
}

function sameDecimal(from: DataType, to: DataType): boolean {
  return from.kind === 'decimal' && to.kind === 'decimal' && from.precision === to.precision && from.scale === to.scale;
}

const numberOrder: readonly DataType['kind'][] = ['byte', 'short', 'integer', 'long', 'float', 'double'];

/** Whether SQL casts every value without loss or error. */
function canUpCast(from: DataType, to: DataType): boolean {
  if (to.kind === 'string') return from.kind !== 'binary';
  if (to.kind === 'decimal') {
    const digits: Partial<Record<DataType['kind'], number>> = { byte: 3, short: 5, integer: 10, long: 20 };
    const precision = from.kind === 'decimal' ? from.precision : digits[from.kind];
    const scale = from.kind === 'decimal' ? from.scale : 0;
    return precision !== undefined && to.scale >= scale && to.precision - to.scale >= precision - scale;
  }
  if (from.kind === 'date') return to.kind === 'timestamp' || to.kind === 'timestamp_ntz';
  if (from.kind === 'timestamp' || from.kind === 'timestamp_ntz') return to.kind === 'timestamp' || to.kind === 'timestamp_ntz';
  const [low, high] = [numberOrder.indexOf(from.kind), numberOrder.indexOf(to.kind)];
  return low >= 0 && high > low;
}

function isNested(type: DataType): boolean {
  return type.kind === 'struct' || type.kind === 'list' || type.kind === 'map';
}

function nested(found: FoundColumn, from: DataType): AnalysisException {
  const name = found.path.join('.');
  return new AnalysisException({
    errorClass: 'CANNOT_UPDATE_FIELD',
    message: `Cannot update field \`${name}\` type ${sqlTypeName(from)}: change the type of what is inside it.`,
    parameters: { fieldName: name, type: sqlTypeName(from) },
    hint: 'name the member, or element, key or value of a list or map',
  });
}

function narrowing(table: string, found: FoundColumn, to: DataType): AnalysisException {
  const name = found.path.map((part) => `\`${part}\``).join('.');
  return new AnalysisException({
    errorClass: 'NOT_SUPPORTED_CHANGE_COLUMN',
    kind: 'unsupported',
    message:
      `ALTER TABLE ALTER/CHANGE COLUMN is not supported for changing \`${table}\`'s column ${name} with type "${sqlTypeName(found.type)}" to ` +
      `${name} with type "${sqlTypeName(to)}".`,
    parameters: { table, originName: name, originType: sqlTypeName(found.type), newName: name, newType: sqlTypeName(to) },
    hint: 'add a column of the other type and fill it',
  });
}

function notWidened(found: FoundColumn, to: DataType): AnalysisException {
  const name = found.path.join('.');
  return new AnalysisException({
    errorClass: 'DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP',
    kind: 'unsupported',
    message: `ALTER TABLE CHANGE COLUMN is not supported for changing column ${name} from ${sqlTypeName(found.type)} to ${sqlTypeName(to)}`,
    parameters: { fieldPath: name, oldField: sqlTypeName(found.type), newField: sqlTypeName(to) },
    hint: "set 'delta.enableTypeWidening' = 'true', or rewrite the table",
  });
}

type Text = Extract<DataType, { readonly kind: 'string' }>;

/**
 * ALTER COLUMN … TYPE of text to text: a length may grow or go. `undefined`: nothing changes; `refused`: values of the column may be longer, or
 * the text is inside a column, whose declaration tells of all of it.
 */
function changeLength(snapshot: DeltaSnapshot, found: FoundColumn, to: Text): PlannedChange | 'refused' | undefined {
  const isColumn = found.path.length === 1;
  const known = isColumn ? declaredType(found.field) : undefined;
  const from = known?.kind === 'string' ? known.length : undefined;
  if (from?.kind === to.length?.kind && from?.characters === to.length?.characters) return undefined;
  if (!isColumn || !holds(from, to.length)) return 'refused';
  const kept = Object.entries(found.field.metadata ?? {}).filter(([key]) => key !== declaredTypeKey);
  const field: Field = { ...found.field, metadata: { ...Object.fromEntries(kept), ...declaredMetadata(to) } };
  return changedField(snapshot, found.path, field);
}

/** CHAR keeps its length, for its values are as long as it says; VARCHAR may follow it. */
function holds(from: Text['length'], to: Text['length']): boolean {
  if (to === undefined) return true;
  if (from === undefined || to.kind === 'char') return false;
  return from.characters <= to.characters;
}
