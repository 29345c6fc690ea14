import type { Engine, HeldRelation } from '../../engine/engine.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { StructType } from '../../schema/types.ts';
import type { ChangeScan } from '../../table/scan.ts';
import { emptyRelation, orderedChangeRelations } from '../lower/change-relation.ts';

/**
 * The rows of some change scans, in order, evaluated once: what a batch is counted by is what its sink gets. With `changeFeed` the change
 * columns stand behind the table's own.
 */
export async function heldChanges(
  engine: Engine,
  scans: readonly ChangeScan[],
  options: { readonly schema: StructType; readonly changeFeed: boolean },
  signal?: AbortSignal,
): Promise<HeldRelation> {
  const opened: HeldRelation[] = [];
  try {
    const texts: string[] = [];
    for (const scan of scans) {
      const relation = await engine.scan(scan.scan, {}, signal);
      opened.push(relation);
      const parts = options.changeFeed ? orderedChangeRelations(relation, scan) : [relation];
      // A set operation goes by place, and only names say which column is which.
      const names = options.schema.fields.map(({ name }) => quoteName(name)).join(', ');
      texts.push(...parts.map(({ sql }) => `SELECT ${names} FROM (${sql})`));
    }
    const rows = texts.length === 0 ? emptyRelation(options.schema) : { sql: texts.join(' UNION ALL '), schema: options.schema };
    return await engine.materialize(rows, signal);
  } finally {
    for (const relation of opened) await relation.dispose();
  }
}
