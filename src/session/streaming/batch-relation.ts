import type { Engine, HeldRelation } from '../../engine/engine.ts';
import { literalSql, quoteName, typeSql } from '../../expr/sql/engine-sql.ts';
import type { StructType } from '../../schema/types.ts';
import type { ChangeScan } from '../../table/scan.ts';

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
      texts.push(options.changeFeed ? withChangeColumns(relation.sql, scan) : `SELECT * FROM (${relation.sql})`);
    }
    const sql = texts.length === 0 ? emptySql(options.schema) : texts.join(' UNION ALL ');
    return await engine.materialize({ sql, schema: options.schema }, signal);
  } finally {
    for (const relation of opened) await relation.dispose();
  }
}

function withChangeColumns(sql: string, scan: ChangeScan): string {
  const type = scan.kind === 'recorded' ? '' : `${literalSql({ type: 'string', value: scan.kind })} AS ${quoteName('_change_type')}, `;
  const version = `CAST(${literalSql({ type: 'integer', value: BigInt(scan.version), width: 'long' })} AS BIGINT) AS ${quoteName('_commit_version')}`;
  const time = `${literalSql({ type: 'timestamp', micros: scan.committedAtMicros })} AS ${quoteName('_commit_timestamp')}`;
  return `SELECT *, ${type}${version}, ${time} FROM (${sql})`;
}

function emptySql(schema: StructType): string {
  return `SELECT ${schema.fields.map(({ name, type }) => `CAST(NULL AS ${typeSql(type)}) AS ${quoteName(name)}`).join(', ')} WHERE false`;
}
