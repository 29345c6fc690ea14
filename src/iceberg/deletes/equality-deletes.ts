import { type ServiceError, serviceError } from '../../base/errors.ts';
import { buildBatch } from '../../codec/build-columns.ts';
import { type Engine, type HeldRelation, type OpenEngine, scanColumns } from '../../engine/engine.ts';
import { columnPathSql } from '../../expr/sql/engine-sql.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { ManifestEntry } from '../metadata/content-file.ts';
import { columnsById } from '../metadata/schema-fields.ts';
import type { IcebergSchema, TableMetadata } from '../metadata/table-metadata.ts';
import type { LiveFile } from '../scan/live-files.ts';
import type { MetadataSource } from '../scan/manifests.ts';
import type { NameToId } from '../scan/name-to-id.ts';
import { partitionKey } from '../scan/partition-key.ts';
import { readableFiles } from '../scan/readable-files.ts';

export interface EqualityDeletesParts {
  readonly source: MetadataSource;
  readonly metadata: TableMetadata;
  /** That rows are read by: the newest definition of a column counts, older schemas have those that were dropped. */
  readonly schema: IcebergSchema;
  readonly nameToId: NameToId | undefined;
  readonly engine: OpenEngine;
  /** Data files of the scan that equality deletes concern. */
  readonly files: readonly LiveFile[];
}

/**
 * The positions of rows that equality deletes take away: rows that are equal, null to null, in all columns of a delete row of a later
 * sequence number, of the same partition or of the whole table. All files of a scan are looked at in one query for each set of columns,
 * when the first of them is asked for.
 */
export class EqualityDeletes {
  readonly #parts: EqualityDeletesParts;
  #found: Promise<ReadonlyMap<string, readonly BigInt64Array[]>> | undefined;

  constructor(parts: EqualityDeletesParts) {
    this.#parts = parts;
  }

  /** In no order; a row may come twice. */
  async of(path: string, signal?: AbortSignal): Promise<readonly BigInt64Array[]> {
    if (this.#found === undefined) {
      const found = this.#find(signal);
      this.#found = found;
      found.catch(() => {
        this.#found = undefined;
      });
    }
    return (await this.#found).get(path) ?? [];
  }

  async #find(signal: AbortSignal | undefined): Promise<ReadonlyMap<string, readonly BigInt64Array[]>> {
    const found = new Map<string, BigInt64Array[]>();
    const engine = await this.#parts.engine();
    for (const group of groupsOf(this.#parts.files)) {
      for (const [path, positions] of await this.#findIn(engine, group, signal)) {
        const known = found.get(path);
        if (known === undefined) found.set(path, [positions]);
        else known.push(positions);
      }
    }
    return found;
  }

  async #findIn(engine: Engine, group: ColumnGroup, signal: AbortSignal | undefined): Promise<ReadonlyMap<string, BigInt64Array>> {
    if (group.ids.length === 0) throw corruptDeletes(this.#parts.source.name, group, 'does not say which columns it compares');
    const columns = this.#columns(group);
    const held: HeldRelation[] = [];
    try {
      const keep = async (relation: Promise<HeldRelation>): Promise<HeldRelation> => {
        const kept = await relation;
        held.push(kept);
        return kept;
      };
      const data = await keep(
        this.#scan(
          engine,
          columns.struct,
          group.data.map(({ entry }) => entry),
          signal,
        ),
      );
      const deleted = await keep(this.#scan(engine, columns.struct, group.deletes, signal));
      const scopes = new Map<string, number>();
      const dataFiles = await keep(
        engine.hold(
          agesSchema,
          [
            ages(
              group.data.map(({ entry }) => entry),
              scopes,
              new Set(),
            ),
          ],
          signal,
        ),
      );
      const deleteFiles = await keep(engine.hold(agesSchema, [ages(group.deletes, scopes, group.global)], signal));
      const query = matchSql({
        data,
        deleted,
        dataFiles,
        deleteFiles,
        columns: columns.paths,
        hasScoped: group.deletes.some((entry) => !group.global.has(entry)),
        hasGlobal: group.global.size > 0,
      });
      return await positionsOf(engine, query, group.data, signal);
    } finally {
      for (const relation of held.toReversed()) await relation.dispose();
    }
  }

  async #scan(
    engine: Engine,
    schema: StructType,
    entries: readonly ManifestEntry[],
    signal: AbortSignal | undefined,
  ): Promise<HeldRelation> {
    const { source, metadata, nameToId } = this.#parts;
    const scan = await readableFiles(
      source,
      { metadata, schema, files: entries.map((entry) => ({ entry })), nameToId, withLineage: false },
      signal,
    );
    return engine.scan(scan, { withPositions: true }, signal);
  }

  /** The columns to compare: top-level ones to read, under names of our own, and the paths in them. */
  #columns(group: ColumnGroup): { readonly struct: StructType; readonly paths: readonly (readonly string[])[] } {
    const { metadata, schema } = this.#parts;
    const fields = new Map<number, Field>();
    const paths = group.ids.map((id) => {
      const found = [schema, ...metadata.schemas.toReversed()].flatMap((candidate) => {
        const column = columnsById(candidate).get(id);
        const root = column === undefined ? undefined : candidate.struct.fields.find(({ name }) => name === column.path[0]);
        return column === undefined || column.repeated || root?.id === undefined ? [] : [{ column, root, rootId: root.id }];
      })[0];
      if (found === undefined) {
        throw corruptDeletes(
          this.#parts.source.name,
          group,
          `compares field ${id}, which no schema of the table has as a column of its own`,
        );
      }
      const { column, root, rootId } = found;
      if (!fields.has(rootId)) fields.set(rootId, { ...root, nullable: true, name: `c${rootId}` });
      return [`c${rootId}`, ...column.path.slice(1)];
    });
    return { struct: { kind: 'struct', fields: [...fields.values()] }, paths };
  }
}

/** Delete files that compare the same columns, with the data files they may concern. */
interface ColumnGroup {
  readonly ids: readonly number[];
  readonly data: readonly LiveFile[];
  readonly deletes: readonly ManifestEntry[];
  /** Those of the deletes that concern the whole table. */
  readonly global: ReadonlySet<ManifestEntry>;
}

function groupsOf(files: readonly LiveFile[]): readonly ColumnGroup[] {
  const groups = new Map<
    string,
    { ids: readonly number[]; data: Set<LiveFile>; deletes: Set<ManifestEntry>; global: Set<ManifestEntry> }
  >();
  // Files of one partition and age share their arrays of deletes.
  const keys = new Map<readonly ManifestEntry[], readonly string[]>();
  const keysOf = (entries: readonly ManifestEntry[], global: boolean): readonly string[] => {
    const known = keys.get(entries);
    if (known !== undefined) return known;
    const found = new Set<string>();
    for (const entry of entries) {
      const ids = [...(entry.file.equalityIds ?? [])].sort((a, b) => a - b);
      const group = groups.get(ids.join()) ?? { ids, data: new Set(), deletes: new Set(), global: new Set() };
      groups.set(ids.join(), group);
      group.deletes.add(entry);
      if (global) group.global.add(entry);
      found.add(ids.join());
    }
    keys.set(entries, [...found]);
    return [...found];
  };
  for (const file of files) {
    const { equality, globalEquality } = file.attached;
    for (const key of [...keysOf(equality, false), ...keysOf(globalEquality, true)]) groups.get(key)?.data.add(file);
  }
  return Array.from(groups.values(), ({ ids, data, deletes, global }) => ({ ids, data: [...data], deletes: [...deletes], global }));
}

/** Of each file by its index: its sequence number, and a number for its partition (-1: all partitions). */
const agesSchema: StructType = {
  kind: 'struct',
  fields: ['file', 'seq', 'scope'].map((name) => ({ name, type: { kind: 'long' }, nullable: false })),
};

function ages(
  entries: readonly ManifestEntry[],
  scopes: Map<string, number>,
  global: ReadonlySet<ManifestEntry>,
): ReturnType<typeof buildBatch> {
  const rows = entries.map((entry, index) => {
    const key = partitionKey(entry.file.specId, entry.file.partition);
    const scope = scopes.get(key) ?? scopes.size;
    scopes.set(key, scope);
    return { file: BigInt(index), seq: entry.sequenceNumber, scope: global.has(entry) ? -1n : BigInt(scope) };
  });
  return buildBatch(agesSchema, rows);
}

interface MatchParts {
  readonly data: Relation;
  readonly deleted: Relation;
  readonly dataFiles: Relation;
  readonly deleteFiles: Relation;
  readonly columns: readonly (readonly string[])[];
  readonly hasScoped: boolean;
  readonly hasGlobal: boolean;
}

/**
 * Of equal delete rows the newest one alone counts: it concerns all data that an older one does. So there is at most one delete row for
 * each data row, and the join is one by hash.
 */
function matchSql({ data, deleted, dataFiles, deleteFiles, columns, hasScoped, hasGlobal }: MatchParts): string {
  const keys = columns.map((path, index) => `${columnPathSql(path)} AS k${index}`).join(', ');
  const names = columns.map((_, index) => `k${index}`);
  const side = (files: Relation, rows: Relation): string =>
    `(SELECT ${keys}, r.${scanColumns.fileIndex} AS file, r.${scanColumns.rowPosition} AS pos, a.seq, a.scope FROM (${rows.sql}) AS r JOIN (${files.sql}) AS a ON r.${scanColumns.fileIndex} = a.file)`;
  const newest = `SELECT ${names.join(', ')}, scope, max(seq) AS seq FROM ${side(deleteFiles, deleted)} GROUP BY ALL`;
  const equal = names.map((name) => `s.${name} IS NOT DISTINCT FROM d.${name}`).join(' AND ');
  const match = (scope: string): string => `SELECT s.file AS file, s.pos AS pos FROM s JOIN d ON ${equal} AND ${scope} WHERE d.seq > s.seq`;
  const matches = [...(hasScoped ? [match('d.scope = s.scope')] : []), ...(hasGlobal ? [match('d.scope = -1')] : [])];
  return `WITH d AS MATERIALIZED (${newest}), s AS (SELECT * FROM ${side(dataFiles, data)}) SELECT file, pos FROM (${matches.join(' UNION ALL ')}) ORDER BY file, pos`;
}

async function positionsOf(
  engine: Engine,
  sql: string,
  files: readonly LiveFile[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, BigInt64Array>> {
  const lists = new Map<number, bigint[]>();
  const schema: StructType = { kind: 'struct', fields: ['file', 'pos'].map((name) => ({ name, type: { kind: 'long' }, nullable: true })) };
  for await (const batch of engine.read({ sql, schema }, signal)) {
    const [file, position] = batch.columns;
    if (file?.layout !== 'fixed' || position?.layout !== 'fixed') continue;
    for (let index = 0; index < batch.rowCount; index++) {
      const at = Number(file.values[index]);
      const list = lists.get(at) ?? [];
      lists.set(at, list);
      list.push(BigInt(position.values[index] ?? 0));
    }
  }
  return new Map(Array.from(lists, ([at, rows]) => [files[at]?.entry.file.path ?? '', BigInt64Array.from(rows)]));
}

function corruptDeletes(table: string, group: ColumnGroup, problem: string): ServiceError {
  return serviceError.corrupt(
    'ICEBERG_DELETE_FILE_CORRUPT',
    `table "${table}": equality delete file "${group.deletes[0]?.file.path ?? ''}" ${problem}`,
    { hint: 'the deleted rows cannot be told from the others; nothing is read' },
  );
}
