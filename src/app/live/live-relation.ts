import type { Engine, HeldRelation } from '../../engine/engine.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import { deletedSql, keyEquality, keyName, laterThan } from '../../rows/keyed/key-sql.ts';
import type { StructType } from '../../schema/types.ts';
import type { KeyedRows } from '../../table/keyed.ts';
import type { Relation } from '../../table/relation.ts';
import type { LiveRows } from './live-rows.ts';

/**
 * The rows of the version with those of the tail, as the version after the tail's commit would have them: beside them, or of a keyed table in place of
 * those with the same keys (docs/spec/keyed-apply.md).
 */
export async function liveRelation(engine: Engine, live: LiveRows, signal: AbortSignal | undefined): Promise<HeldRelation> {
  const held: HeldRelation[] = [];
  const keep = async (made: Promise<HeldRelation>): Promise<HeldRelation> => {
    const relation = await made;
    held.push(relation);
    return relation;
  };
  const dispose = async (): Promise<void> => {
    for (const relation of held.toReversed()) await relation.dispose();
  };
  try {
    const { table, snapshot, batches, keyed } = live;
    const { schema } = snapshot;
    const stored = await keep(engine.scan(await table.scan(snapshot, {}, signal), {}, signal));
    const added = batches.map((batch) => ({ ...batch, schema, columns: batch.columns.slice(0, schema.fields.length) }));
    const fresh = await keep(engine.hold(schema, added, signal));
    const sides = { engine, keep, schema, stored, fresh, signal };
    const sql = keyed === undefined ? unionOf(schema, [stored.sql, fresh.sql]) : await keyedSql(sides, keyed);
    return { sql, schema, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

interface Sides {
  readonly engine: Engine;
  readonly keep: (made: Promise<HeldRelation>) => Promise<HeldRelation>;
  readonly schema: StructType;
  readonly stored: Relation;
  readonly fresh: Relation;
  readonly signal: AbortSignal | undefined;
}

async function keyedSql(sides: Sides, keyed: KeyedRows): Promise<string> {
  const { schema, stored, fresh } = sides;
  const given = await holdKeys(sides, keyed);
  const late = await lateKeys(sides, keyed, given);
  const onTime = (rows: string): string => (late === undefined ? rows : withoutKeys(rows, late.lateRows.sql, keyed));
  const alive = (rows: string): string => (late?.dead === undefined ? onTime(rows) : withoutKeys(onTime(rows), late.dead.sql, keyed));
  const before = keyed.empties === true ? `SELECT * FROM (${stored.sql}) WHERE FALSE` : stored.sql;
  const replaced = late === undefined ? given.sql : withoutHeld(given.sql, late.lateRows.sql, keyed);
  const kept = withoutKeys(before, replaced, keyed);
  const patched = await patchedSql(sides, keyed, { before, alive });
  return unionOf(schema, [kept, alive(fresh.sql), ...(patched === undefined ? [] : [patched])]);
}

/** The keys as `k0`, `k1`, …, the order among them, and `deleted`. */
function holdKeys({ engine, keep, signal }: Sides, { keys }: KeyedRows): Promise<HeldRelation> {
  const last = keys.schema.fields.length - 1;
  const schema: StructType = {
    kind: 'struct',
    fields: keys.schema.fields.map((field, index) => ({ ...field, name: index === last ? 'deleted' : keyName(index) })),
  };
  return keep(engine.hold(schema, [{ ...keys, schema }], signal));
}

interface LateKeys {
  /** Keys of which the version has a later row: nothing becomes of what the tail says of them. */
  readonly lateRows: Relation;
  /** Keys of which a later delete is remembered: their rows end and none comes. */
  readonly dead: Relation | undefined;
}

async function lateKeys({ engine, keep, stored, signal }: Sides, keyed: KeyedRows, given: Relation): Promise<LateKeys | undefined> {
  const { keyColumns, orderColumns, deletes, empties } = keyed;
  if (orderColumns.length === 0 || empties === true) return undefined;
  const same = keyEquality(keyColumns, { left: (name) => `t.${quoteName(name)}`, right: (_, index) => `s.${quoteName(keyName(index))}` });
  const columns = keyColumns.map((_, index) => `s.${quoteName(keyName(index))}`).join(', ');
  const schema: StructType = { kind: 'struct', fields: given.schema.fields.slice(0, keyColumns.length) };
  const laterIn = (rows: string, condition: string): Relation => ({
    sql: `SELECT DISTINCT ${columns} FROM (${rows}) t JOIN (${given.sql}) s ON ${same} WHERE ${condition}coalesce(${laterThan(keyed)}, FALSE)`,
    schema,
  });
  const lateRows = await keep(engine.materialize(laterIn(stored.sql, ''), signal));
  const scan = await deletes?.scan(undefined);
  if (scan === undefined || scan.files.length === 0) return { lateRows, dead: undefined };
  const remembered = await keep(engine.scan(scan, {}, signal));
  return { lateRows, dead: await keep(engine.materialize(laterIn(remembered.sql, `NOT s.${deletedSql} AND `), signal)) };
}

/** Rows of the tail that leave columns as they are, with what the version has there. */
async function patchedSql(
  { engine, keep, schema, signal }: Sides,
  { patches, keyColumns }: KeyedRows,
  { before, alive }: { readonly before: string; readonly alive: (rows: string) => string },
): Promise<string | undefined> {
  if (patches === undefined) return undefined;
  const flag = (index: number): string => `absent ${index}`;
  const flags = patches.columns.map((_, index) => ({ name: flag(index), type: { kind: 'boolean' as const }, nullable: false }));
  const held: StructType = { kind: 'struct', fields: [...schema.fields, ...flags] };
  const rows = await keep(engine.hold(held, [{ ...patches.rows, schema: held }], signal));
  const columns = schema.fields.map(({ name }) => {
    const index = patches.columns.indexOf(name);
    const value = `p.${quoteName(name)}`;
    return index < 0 ? value : `CASE WHEN p.${quoteName(flag(index))} THEN b.${quoteName(name)} ELSE ${value} END AS ${quoteName(name)}`;
  });
  const same = keyEquality(keyColumns, { left: (name) => `b.${quoteName(name)}`, right: (name) => `p.${quoteName(name)}` });
  return `SELECT ${columns.join(', ')} FROM (${alive(rows.sql)}) p LEFT JOIN (${before}) b ON ${same}`;
}

/** Rows of the table whose keys are not among these, which are called `k0`, `k1`, … */
function withoutKeys(rows: string, keys: string, { keyColumns }: KeyedRows): string {
  const same = keyEquality(keyColumns, { left: (_, index) => `e.${quoteName(keyName(index))}`, right: (name) => `r.${quoteName(name)}` });
  return `SELECT * FROM (${rows}) r WHERE NOT EXISTS (SELECT 1 FROM (${keys}) e WHERE ${same})`;
}

function withoutHeld(rows: string, keys: string, { keyColumns }: KeyedRows): string {
  const name = (index: number): string => quoteName(keyName(index));
  const same = keyColumns.map((_, index) => `e.${name(index)} = r.${name(index)}`).join(' AND ');
  return `SELECT * FROM (${rows}) r WHERE NOT EXISTS (SELECT 1 FROM (${keys}) e WHERE ${same})`;
}

function unionOf({ fields }: StructType, queries: readonly string[]): string {
  const columns = fields.map(({ name }) => quoteName(name)).join(', ');
  return queries.map((sql) => `SELECT ${columns} FROM (${sql})`).join(' UNION ALL ');
}
