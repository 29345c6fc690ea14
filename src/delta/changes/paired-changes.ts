import type { Engine, HeldRelation } from '../../engine/engine.ts';
import { quoteName, sqlText } from '../../expr/sql/engine-sql.ts';
import { hiddenNames } from '../../rows/change/hidden-names.ts';
import { changeTypeField } from '../../rows/change/rewrite-sql.ts';
import { fileIndexSql, rowPositionSql } from '../../rows/change/target-scan.ts';
import type { ScratchFiles } from '../../rows/files/scratch-files.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { HeldChanges } from '../../table/changes.ts';
import type { ChangeScan } from '../../table/scan.ts';

interface Unpaired {
  /** Scans of deleted and of inserted rows, all in one schema. */
  readonly scans: readonly ChangeScan[];
  readonly schema: StructType;
  readonly keyColumns: readonly string[];
}

/**
 * The changes of a version, written to one file for the reader: of each key the first row that went and the first that came are the two halves
 * of an update, and so on with the second ones. By key, so that the halves are neighbours.
 *
 * @throws ServiceError as `ScratchFiles.write`, and what the engine throws.
 */
export async function pairedChanges(
  { engine, scratch }: { readonly engine: Engine; readonly scratch: ScratchFiles },
  { scans, schema, keyColumns }: Unpaired,
  signal?: AbortSignal,
): Promise<Pick<HeldChanges, 'files' | 'release'>> {
  const held: HeldRelation[] = [];
  const holding = async (relation: Promise<HeldRelation>): Promise<string> => {
    const found = await relation;
    held.push(found);
    return found.sql;
  };
  const hidden = hiddenNames([schema]);
  const [part, file, position, kind] = [hidden.sourceRow, hidden.file, hidden.position, hidden.clause].map(quoteName);
  const [nth, paired] = [hidden.drawn(0), hidden.drawn(1)].map(quoteName);
  const place = `${part}, ${file}, ${position}`;
  const columns = schema.fields.map(({ name }) => quoteName(name));
  const keys = keyColumns.map(quoteName);
  try {
    const parts: string[] = [];
    for (const [index, scan] of scans.entries()) {
      const rows = await holding(engine.scan(scan.scan, { withPositions: true }, signal));
      const told = [
        `${index} AS ${part}`,
        `${fileIndexSql} AS ${file}`,
        `${rowPositionSql} AS ${position}`,
        `${ranks[scan.kind]} AS ${kind}`,
      ];
      parts.push(`SELECT ${[...columns, ...told].join(', ')} FROM (${rows})`);
    }
    const rows = parts.join(' UNION ALL ');
    // Keys alone are compared; whole rows are read once, when it is known what they are.
    const numbered = `SELECT ${place}, ${kind}, ${keys.join(', ')}, row_number() OVER (PARTITION BY ${keys.join(', ')}, ${kind} ORDER BY ${place}) AS ${nth} FROM (${rows})`;
    const isKey = keys.map((key) => `${key} IS NOT NULL`).join(' AND ');
    const matched = `SELECT ${place}, ${nth}, ${isKey} AND count(*) OVER (PARTITION BY ${keys.join(', ')}, ${nth}) = 2 AS ${paired} FROM (${numbered})`;
    const places = await holding(engine.materialize({ sql: matched, schema: placesSchema }, signal));
    const word = (alone: string, half: string): string => `CASE WHEN p.${paired} THEN ${sqlText(half)} ELSE ${sqlText(alone)} END`;
    const type = `CASE r.${kind} WHEN ${ranks.delete} THEN ${word('delete', 'update_preimage')} ELSE ${word('insert', 'update_postimage')} END`;
    const same = [part, file, position].map((name) => `r.${name} = p.${name}`).join(' AND ');
    const inOrder = [...keys.map((key) => `r.${key}`), `p.${nth}`, `r.${kind}`].join(', ');
    const sql = `SELECT ${columns.map((column) => `r.${column}`).join(', ')}, ${type} AS ${quoteName(changeTypeField.name)} FROM (${rows}) r JOIN (${places}) p ON ${same} ORDER BY ${inOrder}`;
    const written = await scratch.write(engine, { sql, schema: { kind: 'struct', fields: [...schema.fields, changeTypeField] } }, signal);
    if (written === undefined) return { files: [] };
    const { directory: location, path, sizeBytes, rowCount } = written;
    return {
      files: [{ kind: 'recorded', path, location, sizeBytes, partitionValues: {}, rowCount }],
      release: () => scratch.delete([written]),
    };
  } finally {
    for (const relation of held.reverse()) await relation.dispose();
  }
}

const placesSchema: StructType = {
  kind: 'struct',
  fields: [
    ...['part', 'file', 'position', 'nth'].map((name): Field => ({ name, type: { kind: 'long' }, nullable: false })),
    { name: 'paired', type: { kind: 'boolean' }, nullable: false },
  ],
};

const ranks: Readonly<Record<ChangeScan['kind'], number>> = { delete: 0, insert: 1, recorded: 2 };
