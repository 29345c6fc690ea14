import { join } from 'node:path';
import { SystemRandom } from '../../../src/base/system-random.ts';
import type { IcebergTable } from '../../../src/iceberg/iceberg-table.ts';
import { IcebergTables } from '../../../src/iceberg/iceberg-tables.ts';
import { snapshotStateOf } from '../../../src/iceberg/snapshot-state-of.ts';
import type { ColumnBatch } from '../../../src/schema/columns.ts';
import type { StructType } from '../../../src/schema/types.ts';
import { LocalObjectStore } from '../../../src/storage/local-object-store.ts';
import type { PartitionFieldDefinition } from '../../../src/table/partitioning/transform.ts';
import type { Relation } from '../../../src/table/relation.ts';
import type { FileScan } from '../../../src/table/scan.ts';
import { LocalTables } from '../local-tables.ts';
import { linesOfBatch } from './random-tables.ts';

export interface IcebergShape {
  readonly schema: StructType;
  readonly partitioning: readonly PartitionFieldDefinition[];
  readonly properties: Readonly<Record<string, string>>;
}

/** Id and version of a row as the table has them, by the row's first column. */
export type RowLineage = ReadonlyMap<string, { readonly rowId: bigint | null; readonly changed: bigint | null }>;

/** Iceberg tables of a run of properties, with rows as lines of canonical text. */
export class IcebergPropertyTables {
  readonly local: LocalTables;
  #made = 0;

  private constructor(local: LocalTables) {
    this.local = local;
  }

  static async open(): Promise<IcebergPropertyTables> {
    return new IcebergPropertyTables(await LocalTables.open({ memoryLimitBytes: 512 << 20 }));
  }

  close(): Promise<void> {
    return this.local.close();
  }

  async create({ schema, partitioning, properties }: IcebergShape): Promise<IcebergTable> {
    const name = `t${this.#made++}`;
    await this.#driver().createTable({
      name,
      location: this.#location(name),
      definition: { schema, partitionColumns: [], partitioning, properties },
      mode: 'create',
    });
    return this.open(name);
  }

  /** As another process has it. */
  async open(name: string): Promise<IcebergTable> {
    const table = await this.#driver().open(name, this.#location(name));
    if (table === undefined) throw new TypeError(`no table ${name}`);
    return table;
  }

  /** Runs `use` with the rows as a relation of the engine. */
  async withRows<Result>(batch: ColumnBatch, use: (rows: Relation) => Promise<Result>): Promise<Result> {
    const held = await this.local.engine.hold(batch.schema, [batch]);
    try {
      return await use(held);
    } finally {
      await held.dispose();
    }
  }

  async append(table: IcebergTable, batch: ColumnBatch): Promise<void> {
    await this.withRows(batch, (rows) => table.operations.write({ rows, mode: { kind: 'append' } }));
  }

  /** The rows of a snapshot by its own schema (default: of the newest, by the table's), sorted. */
  async lines(table: IcebergTable, snapshotId?: bigint): Promise<readonly string[]> {
    const newest = await table.refresh();
    return this.scanned(await table.scan(snapshotId === undefined ? newest : snapshotStateOf(newest.loaded, { snapshotId })));
  }

  /** The rows of a scan, of all of it or where a condition of engine SQL holds, sorted. */
  async scanned(scan: FileScan, condition?: string): Promise<readonly string[]> {
    const relation = await this.local.engine.scan(scan);
    try {
      const sql = condition === undefined ? relation.sql : `SELECT * FROM (${relation.sql}) WHERE ${condition}`;
      const lines: string[] = [];
      for await (const batch of this.local.engine.read({ sql, schema: relation.schema })) lines.push(...linesOfBatch(batch));
      return lines.sort();
    } finally {
      await relation.dispose();
    }
  }

  /** What the table says of the rows of its newest snapshot beside their values; `idName` is the column that tells them apart. */
  async lineage(table: IcebergTable, idName: string): Promise<RowLineage> {
    const scan = await table.scan(await table.refresh());
    const { rowTracking } = scan;
    if (rowTracking === undefined) return new Map();
    const relation = await this.local.engine.scan(scan, { withRowTracking: true });
    try {
      const columns = [idName, rowTracking.rowId, rowTracking.commitVersion].map((name) => `"${name.replaceAll('"', '""')}"`);
      const rows = await this.local.engine.rows(`SELECT ${columns.join(', ')} FROM (${relation.sql})`);
      const long = (value: unknown): bigint | null => (typeof value === 'bigint' ? value : null);
      return new Map(rows.map(([id, rowId, changed]) => [String(id), { rowId: long(rowId), changed: long(changed) }]));
    } finally {
      await relation.dispose();
    }
  }

  #location(name: string): string {
    return join(this.local.directory, name);
  }

  #driver(): IcebergTables {
    const { ids, clock, engine } = this.local;
    return new IcebergTables({
      openStore: (location) => new LocalObjectStore({ directory: location, ids }),
      clock,
      random: new SystemRandom(),
      ids,
      version: 'test',
      engine: () => Promise.resolve(engine),
    });
  }
}
