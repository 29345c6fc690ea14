import type { Engine, HeldRelation } from '../../engine/engine.ts';
import { keyName, laterKeys, namedKeys, upsertedKeys, withoutKeys } from '../../rows/keyed/key-sql.ts';
import { flaggedPatches, patchedSql } from '../../rows/keyed/patched-rows.ts';
import { unionOf } from '../../rows/merge/insert-values.ts';
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
    const rows = keyed === undefined ? unionOf([stored, fresh], schema) : await keyedRelation(sides, keyed);
    return { ...rows, dispose };
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

async function keyedRelation(sides: Sides, keyed: KeyedRows): Promise<Relation> {
  const { engine, keep, schema, stored, fresh, signal } = sides;
  const { keyColumns, patches } = keyed;
  const named = namedKeys(keyed);
  const given = await keep(engine.hold(named.schema, [named], signal));
  const late = await lateKeys(sides, keyed, given);
  const without = (rows: string, keys: Relation | undefined): string =>
    keys === undefined ? rows : withoutKeys(rows, keys.sql, { keyColumns, keyOf: keyName });
  const alive = (rows: string): string => without(without(rows, late?.lateRows), late?.dead);
  const before = keyed.empties === true ? `SELECT * FROM (${stored.sql}) WHERE FALSE` : stored.sql;
  const ending =
    late === undefined
      ? given.sql
      : withoutKeys(given.sql, late.lateRows.sql, { keyColumns: keyColumns.map((_, index) => keyName(index)), keyOf: keyName });
  const parts = [withoutKeys(before, ending, { keyColumns, keyOf: keyName }), alive(fresh.sql)];
  if (patches !== undefined) {
    const flagOf = (index: number): string => `absent ${index}`;
    const flagged = flaggedPatches(patches, schema, flagOf);
    const rows = await keep(engine.hold(flagged.schema, [flagged], signal));
    parts.push(patchedSql({ patches, keyColumns, schema, flagOf }, alive(rows.sql), before));
  }
  return unionOf(
    parts.map((sql) => ({ sql, schema })),
    schema,
  );
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
  const schema: StructType = { kind: 'struct', fields: given.schema.fields.slice(0, keyColumns.length) };
  const laterIn = (rows: string, keys: string): Promise<HeldRelation> =>
    keep(engine.materialize({ sql: laterKeys(keyed, { rows, keys, keyOf: keyName }), schema }, signal));
  const lateRows = await laterIn(stored.sql, given.sql);
  const scan = await deletes?.scan(undefined);
  if (scan === undefined || scan.files.length === 0) return { lateRows, dead: undefined };
  const remembered = await keep(engine.scan(scan, {}, signal));
  return { lateRows, dead: await laterIn(remembered.sql, upsertedKeys(given.sql)) };
}
