import { AnalysisException } from '../../base/analysis-exception.ts';
import { assert } from '../../base/assert.ts';
import type { Expression } from '../../expr/expression.ts';
import { statementTime } from '../../expr/time-zone.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { conditionCheck } from '../files/checked-rows.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { fileScanOf } from '../scan/file-scan.ts';
import { selectFiles } from '../scan/select-files.ts';
import { requireRowCondition } from './check-constraints.ts';
import { constraintPrefix } from './dependent-columns.ts';
import type { PlannedChange } from './planned-change.ts';

/**
 * ADD CONSTRAINT … CHECK: the rows that are there are looked at first. A condition that is null counts as broken.
 *
 * @throws AnalysisException `DELTA_CONSTRAINT_ALREADY_EXISTS` (42710), `DELTA_NEW_CHECK_CONSTRAINT_VIOLATION` (23512) with the number of rows,
 * `UNRESOLVED_COLUMN.WITH_SUGGESTION` (42703).
 */
export async function addConstraint(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  change: { readonly name: string; readonly condition: Expression; readonly text: string },
  signal?: AbortSignal,
): Promise<PlannedChange> {
  const key = `${constraintPrefix}${change.name.toLowerCase()}`;
  const present = constraintKey(snapshot, change.name);
  if (present !== undefined) throw alreadyThere(change.name, snapshot.properties[present] ?? '');
  const now = statementTime(context);
  requireRowCondition(change, snapshot.schema);
  const check = conditionCheck({ name: change.name, condition: change.condition, text: change.text }, snapshot.schema, now);
  const broken = snapshot.fileCount === 0 ? 0n : await brokenRows(context, snapshot, check.broken, signal);
  if (broken > 0n) throw violated(context, change.text, broken);
  return {
    operation: 'ADD CONSTRAINT',
    operationParameters: { name: change.name, expr: change.text },
    configuration: { ...snapshot.properties, [key]: change.text },
    // Rows of others that come meanwhile were not looked at.
    reads: { wholeTable: true },
  };
}

/** DROP CONSTRAINT. @throws AnalysisException `DELTA_CONSTRAINT_DOES_NOT_EXIST` (42704) unless `ifExists`. */
export function dropConstraint(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  change: { readonly name: string; readonly ifExists: boolean },
): PlannedChange | undefined {
  const key = constraintKey(snapshot, change.name);
  if (key === undefined) {
    if (change.ifExists) return undefined;
    throw doesNotExist(context, change.name);
  }
  return {
    operation: 'DROP CONSTRAINT',
    operationParameters: { name: change.name, expr: snapshot.properties[key], existed: 'true' },
    configuration: Object.fromEntries(Object.entries(snapshot.properties).filter(([other]) => other !== key)),
  };
}

function constraintKey(snapshot: DeltaSnapshot, name: string): string | undefined {
  const wanted = `${constraintPrefix}${name}`.toLowerCase();
  return Object.keys(snapshot.properties).find((key) => key.toLowerCase() === wanted);
}

async function brokenRows(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  broken: string,
  signal: AbortSignal | undefined,
): Promise<bigint> {
  const engine = await context.engine();
  const rows = await engine.scan(fileScanOf(context, snapshot, selectFiles(snapshot, undefined)), {}, signal);
  try {
    const [first] = await engine.rows(`SELECT count(*) FROM (${rows.sql}) WHERE ${broken}`, signal);
    const count = first?.[0];
    assert(typeof count === 'bigint', 'the engine counts in 64 bits');
    return count;
  } finally {
    await rows.dispose();
  }
}

function violated(context: OperationContext, text: string, rows: bigint): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_NEW_CHECK_CONSTRAINT_VIOLATION',
    message: `${rows} rows in ${context.name} violate the new CHECK constraint (${text})`,
    parameters: { numRows: String(rows), tableName: context.name, checkConstraint: text },
    hint: 'correct the rows first',
  });
}

function alreadyThere(name: string, text: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_CONSTRAINT_ALREADY_EXISTS',
    message: `Constraint '${name}' already exists. Please delete the old constraint first.\nOld constraint:\n${text}`,
    parameters: { constraintName: name, oldConstraint: text },
    hint: 'ALTER TABLE … DROP CONSTRAINT',
  });
}

function doesNotExist(context: OperationContext, name: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_CONSTRAINT_DOES_NOT_EXIST',
    message: `Cannot drop nonexistent constraint ${name} from table ${context.name}. To avoid throwing an error, provide the parameter IF EXISTS.`,
    parameters: { constraintName: name, tableName: context.name },
    hint: 'use DROP CONSTRAINT IF EXISTS',
  });
}
