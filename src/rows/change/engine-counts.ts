import { present } from '../../base/assert.ts';
import type { Relation } from '../../table/relation.ts';
import type { RowWork } from '../row-work.ts';

/** A 64-bit number of the engine's plain rows. */
export function longOf(value: unknown): bigint {
  const long = typeof value === 'number' ? BigInt(value) : value;
  return present(typeof long === 'bigint' ? long : undefined, `the engine must count in whole numbers, not ${typeof value}`);
}

export async function countRows(work: RowWork, relation: Relation): Promise<bigint> {
  const [row] = await work.engine.rows(`SELECT count(*) FROM (${relation.sql})`, work.signal);
  return longOf(row?.[0]);
}
