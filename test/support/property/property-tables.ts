import { canonicalRows } from '../../../src/codec/canonical-json.ts';
import type { DeltaTable } from '../../../src/delta/delta-table.ts';
import type { ColumnBatch } from '../../../src/schema/columns.ts';
import type { StructType } from '../../../src/schema/types.ts';
import type { Relation } from '../../../src/table/relation.ts';
import type { FileScan } from '../../../src/table/scan.ts';
import { toVersion } from '../../../src/table/version.ts';
import { LocalTables } from '../local-tables.ts';
import { linesOfBatch } from './random-tables.ts';

export interface TableShape {
  readonly schema: StructType;
  readonly partitionBy: readonly string[];
  readonly properties: Readonly<Record<string, string>>;
}

/** Tables of a run of properties, with rows as lines of canonical text. */
export class PropertyTables {
  readonly local: LocalTables;
  #made = 0;

  constructor(local: LocalTables) {
    this.local = local;
  }

  static async open(): Promise<PropertyTables> {
    return new PropertyTables(await LocalTables.open({ memoryLimitBytes: 512 << 20 }));
  }

  close(): Promise<void> {
    return this.local.close();
  }

  async create({ schema, partitionBy, properties }: TableShape): Promise<DeltaTable> {
    const name = `t${this.#made++}`;
    await this.local.driver().createTable({
      name,
      location: this.local.path(name),
      definition: { schema, partitionColumns: partitionBy, properties },
      mode: 'create',
    });
    return this.local.open(name);
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

  async append(table: DeltaTable, batch: ColumnBatch): Promise<void> {
    await this.withRows(batch, (rows) => table.operations.write({ rows, mode: { kind: 'append' } }));
  }

  /** The rows at a version (default: the newest), sorted. */
  async lines(table: DeltaTable, version?: number): Promise<readonly string[]> {
    const snapshot = version === undefined ? await table.refresh() : await table.snapshotAt(toVersion(version));
    return this.scanned(await table.scan(snapshot));
  }

  /** The rows of a scan, of all of it or where a condition of engine SQL holds, sorted. */
  async scanned(scan: FileScan, condition?: string): Promise<readonly string[]> {
    const relation = await this.local.engine.scan(scan);
    try {
      const sql = condition === undefined ? relation.sql : `SELECT * FROM (${relation.sql}) WHERE ${condition}`;
      const lines: string[] = [];
      for await (const batch of this.local.engine.read({ sql, schema: relation.schema })) {
        lines.push(...linesOfBatch(batch));
      }
      return lines.sort();
    } finally {
      await relation.dispose();
    }
  }

  /** Rows of version `after` with the changes of the versions up to `until` done to them, sorted. */
  async folded(table: DeltaTable, after: number, until: number): Promise<readonly string[]> {
    const counts = new Map<string, number>();
    const add = (line: string, by: number): void => {
      counts.set(line, (counts.get(line) ?? 0) + by);
    };
    for (const line of await this.lines(table, after)) add(line, 1);
    for await (const { kind, scan } of table.changeScans({ from: toVersion(after + 1), until: toVersion(until) })) {
      for (const { line, type } of await this.#changes(scan, kind)) add(line, type === 'insert' || type === 'update_postimage' ? 1 : -1);
    }
    return [...counts]
      .flatMap(([line, count]) => {
        if (count < 0) throw new RangeError(`the changes of ${after + 1} to ${until} take ${line} away ${-count} times too often`);
        return new Array<string>(count).fill(line);
      })
      .sort();
  }

  async #changes(
    scan: FileScan,
    kind: 'insert' | 'delete' | 'recorded',
  ): Promise<readonly { readonly line: string; readonly type: string }[]> {
    const relation = await this.local.engine.scan(scan);
    const changes: { line: string; type: string }[] = [];
    for await (const batch of this.local.engine.read(relation)) {
      const width = kind === 'recorded' ? batch.columns.length - 1 : batch.columns.length;
      const rows = {
        ...batch,
        schema: { ...batch.schema, fields: batch.schema.fields.slice(0, width) },
        columns: batch.columns.slice(0, width),
      };
      const types =
        kind === 'recorded'
          ? [
              ...canonicalRows({
                ...batch,
                schema: { ...batch.schema, fields: batch.schema.fields.slice(width) },
                columns: batch.columns.slice(width),
              }),
            ]
          : [];
      for (const [index, line] of [...linesOfBatch(rows)].entries()) {
        changes.push({ line, type: kind === 'recorded' ? (types[index]?.split('"')[3] ?? '') : kind });
      }
    }
    await relation.dispose();
    return changes;
  }
}
