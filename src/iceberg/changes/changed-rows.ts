import { type ServiceError, serviceError } from '../../base/errors.ts';
import { buildBatch } from '../../codec/build-columns.ts';
import { type Engine, type HeldRelation, scanColumns } from '../../engine/engine.ts';
import { quoteName, sqlText } from '../../expr/sql/engine-sql.ts';
import type { StructType } from '../../schema/types.ts';
import type { IcebergSnapshot } from '../metadata/table-metadata.ts';
import { tableNames } from '../scan/file-scan.ts';
import { readableFiles } from '../scan/readable-files.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import { changelogNames } from './changelog-columns.ts';
import { type ChangedFile, snapshotChanges } from './snapshot-changes.ts';

/** Positions of rows that are held for one changelog. */
const maxHeldPositions = 2 ** 27;

/** The changes of some snapshots as they stand in their files: the table's columns, then those of a changelog. */
export interface ChangedRows {
  /** SQL of the rows of snapshots that only added some; `undefined`: there are none. */
  readonly added: string | undefined;
  /** Of the other snapshots; also rows that a rewritten file carries over, as both kinds of change. */
  readonly mixed: string | undefined;
  /** Ends both. */
  dispose(): Promise<void>;
}

/** A file of one of the snapshots. */
interface TimedFile extends ChangedFile {
  readonly ordinal: number;
  readonly snapshotId: bigint;
}

/**
 * @param snapshots oldest first.
 * @throws ServiceError as `snapshotChanges`, `ICEBERG_FILE_MISSING` (not-found), `ICEBERG_TOO_MANY_DELETES` (unsupported).
 */
export async function changedRows(
  { context, engine }: { readonly context: TableContext; readonly engine: Engine },
  state: SnapshotState,
  snapshots: readonly IcebergSnapshot[],
  options: { readonly apart: boolean },
  signal?: AbortSignal,
): Promise<ChangedRows> {
  const added: TimedFile[] = [];
  const mixed: TimedFile[] = [];
  let positions = 0;
  for (const [ordinal, snapshot] of snapshots.entries()) {
    const files = await snapshotChanges(context, state, snapshot, signal);
    positions += files.reduce((sum, { onlyRows }) => sum + (onlyRows?.length ?? 0), 0);
    if (positions > maxHeldPositions) throw tooManyDeletes(context.name);
    const onlyAdds = options.apart && files.every(({ change }) => change === 'INSERT');
    const place = { ordinal, snapshotId: snapshot.snapshotId };
    (onlyAdds ? added : mixed).push(...files.map((file) => ({ ...file, ...place })));
  }
  const held: HeldRelation[] = [];
  const dispose = async (): Promise<void> => {
    for (const relation of held.splice(0).toReversed()) await relation.dispose();
  };
  try {
    const tools = { context, engine, state, held, signal };
    return { added: await rowsOf(tools, added), mixed: await rowsOf(tools, mixed), dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

interface RowTools {
  readonly context: TableContext;
  readonly engine: Engine;
  readonly state: SnapshotState;
  readonly held: HeldRelation[];
  readonly signal: AbortSignal | undefined;
}

async function rowsOf(tools: RowTools, files: readonly TimedFile[]): Promise<string | undefined> {
  // The engine takes all rows of the files of a scan, or of all of them only some.
  const whole = files.filter(({ onlyRows }) => onlyRows === undefined);
  const partly = files.filter(({ onlyRows }) => onlyRows !== undefined);
  const parts: string[] = [];
  for (const group of [whole, partly]) if (group.length > 0) parts.push(await scannedRows(tools, group));
  return parts.length === 0 ? undefined : parts.join(' UNION ALL ');
}

async function scannedRows({ context, engine, state, held, signal }: RowTools, files: readonly TimedFile[]): Promise<string> {
  const { metadata, schema } = state;
  const request = { metadata, schema, files, nameToId: tableNames(metadata), withLineage: false };
  const scan = await readableFiles(context, request, signal);
  const partly = scan.files.map((file, index) => {
    const { onlyRows } = files[index] ?? {};
    return onlyRows === undefined ? file : { ...file, deletedRows: undefined, onlyRows: () => Promise.resolve(onlyRows) };
  });
  const rows = await engine.scan({ ...scan, files: partly }, { withPositions: true }, signal);
  held.push(rows);
  const columns = schema.fields.map(({ name }) => `s.${quoteName(name)}`);
  const { type, ordinal, snapshot } = changelogNames;
  const [first] = files;
  const alike = files.every(({ change, snapshotId }) => change === first?.change && snapshotId === first.snapshotId);
  if (first !== undefined && alike) {
    const values = [
      `${sqlText(first.change)} AS ${type}`,
      `CAST(${first.ordinal} AS INTEGER) AS ${ordinal}`,
      `CAST(${first.snapshotId} AS BIGINT) AS ${snapshot}`,
    ];
    return `SELECT ${[...columns, ...values].join(', ')} FROM (${rows.sql}) AS s`;
  }
  const facts = await engine.hold(factsSchema, [factsOf(files)], signal);
  held.push(facts);
  const values = [type, ordinal, snapshot].map((name) => `f.${name}`);
  return `SELECT ${[...columns, ...values].join(', ')} FROM (${rows.sql}) AS s JOIN (${facts.sql}) AS f ON s.${scanColumns.fileIndex} = f.file`;
}

/** What is the same in all rows of a file, by its index in the scan. */
const factsSchema: StructType = {
  kind: 'struct',
  fields: [
    { name: 'file', type: { kind: 'long' }, nullable: false },
    { name: changelogNames.type, type: { kind: 'string' }, nullable: false },
    { name: changelogNames.ordinal, type: { kind: 'integer' }, nullable: false },
    { name: changelogNames.snapshot, type: { kind: 'long' }, nullable: false },
  ],
};

function factsOf(files: readonly TimedFile[]): ReturnType<typeof buildBatch> {
  const { type, ordinal, snapshot } = changelogNames;
  return buildBatch(
    factsSchema,
    files.map((file, index) => ({ file: BigInt(index), [type]: file.change, [ordinal]: file.ordinal, [snapshot]: file.snapshotId })),
  );
}

function tooManyDeletes(table: string): ServiceError {
  return serviceError.unsupported(
    'ICEBERG_TOO_MANY_DELETES',
    `table "${table}": the snapshots of the range hide more than ${maxHeldPositions} rows`,
    { hint: 'read fewer snapshots at once' },
  );
}
