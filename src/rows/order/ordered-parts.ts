import type { Engine } from '../../engine/engine.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';

/**
 * Sorted rows in so many parts of equally many rows, in order. A part is valid until the next one is asked for.
 *
 * @param sorted its text ends with the ORDER BY.
 */
export async function* orderedParts(
  engine: Engine,
  sorted: Relation,
  options: { readonly parts: number; readonly signal: AbortSignal | undefined },
): AsyncGenerator<Relation, void, undefined> {
  const { parts, signal } = options;
  const { schema } = sorted;
  if (parts === 1) {
    yield sorted;
    return;
  }
  const [place = ''] = unusedNames(schema, 1);
  const names = schema.fields.map((field) => quoteName(field.name)).join(', ');
  // Sorted once and kept (spilled where memory is short): the engine gives no promise about order across several files of one query.
  const placed: Field = { name: place, type: { kind: 'long' }, nullable: false };
  const numbered = `SELECT *, row_number() OVER () AS ${quoteName(place)} FROM (${sorted.sql})`;
  const held = await engine.materialize({ sql: numbered, schema: { kind: 'struct', fields: [...schema.fields, placed] } }, signal);
  try {
    const [[count] = []] = await engine.rows(`SELECT count(*) FROM (${held.sql})`, signal);
    const rowsPerPart = Math.max(1, Math.ceil(Number(count) / parts));
    for (let from = 0; from < Number(count); from += rowsPerPart) {
      const within = `${quoteName(place)} > ${from} AND ${quoteName(place)} <= ${from + rowsPerPart}`;
      yield { sql: `SELECT ${names} FROM (${held.sql}) WHERE ${within} ORDER BY ${quoteName(place)}`, schema };
    }
  } finally {
    await held.dispose();
  }
}

/** Names no column of the rows has. */
export function unusedNames(schema: StructType, count: number): readonly string[] {
  let prefix = 'z';
  while (schema.fields.some((field) => field.name.toLowerCase().startsWith(prefix))) prefix += 'z';
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}
