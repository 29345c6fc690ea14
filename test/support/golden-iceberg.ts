import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/base/bigint-json.ts';
import { RandomIdSource } from '../../src/base/ids.ts';
import { SystemClock } from '../../src/base/system-clock.ts';
import { SystemRandom } from '../../src/base/system-random.ts';
import { type CanonicalOptions, canonicalRows } from '../../src/codec/canonical-json.ts';
import { DuckdbEngine } from '../../src/engine/duckdb-engine.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { IcebergTable } from '../../src/iceberg/iceberg-table.ts';
import { IcebergTables } from '../../src/iceberg/iceberg-tables.ts';
import { icebergTypeText } from '../../src/iceberg/metadata/type-text.ts';
import type { DataType } from '../../src/schema/types.ts';
import { openObjectStore } from '../../src/storage/open-object-store.ts';
import type { Snapshot } from '../../src/table/table.ts';
import type { OpenTableOptions } from '../../src/table/table-formats.ts';
import { objectsOf } from './golden-tables.ts';
import { unpackTar } from './unpack-tar.ts';

/** Unpacked Iceberg tables of other engines, and an engine to read them with. */
export class GoldenIceberg {
  readonly directory: string = mkdtempSync(join(tmpdir(), 'tidewater-iceberg-'));
  readonly engine: Engine;
  readonly #tables: IcebergTables;

  private constructor(engine: Engine) {
    this.engine = engine;
    const random = new SystemRandom();
    this.#tables = new IcebergTables({
      openStore: openObjectStore,
      clock: new SystemClock(),
      random,
      ids: new RandomIdSource(random),
      version: 'test',
      engine: () => Promise.resolve(engine),
    });
  }

  static async unpack(pack: string): Promise<GoldenIceberg> {
    const ids = new RandomIdSource(new SystemRandom());
    const engine = await DuckdbEngine.open({ memoryLimitBytes: 1024 ** 3, threads: 2, temporaryDirectory: tmpdir(), ids });
    const golden = new GoldenIceberg(engine);
    unpackTar(new URL(`../golden/packs/${pack}.tar.gz`, import.meta.url), golden.directory);
    return golden;
  }

  async close(): Promise<void> {
    await this.engine.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  expectation(name: string): JsonObject {
    const path = join(this.directory, name, 'expect.json');
    const value = parseJson(readFileSync(path, 'utf8'), path);
    return isJsonObject(value) ? value : {};
  }

  /** A table of a pack whose paths are relative to the case's folder. */
  async openMetadata(name: string, metadata: string): Promise<IcebergTable> {
    const pathMap = objectsOf(this.expectation(name)['pathMap']).map(({ from, to }) => ({ from: textOf(from), to: textOf(to) }));
    return this.#open(name, metadata, { pathBase: join(this.directory, name), pathMap });
  }

  /** A table of a pack that was written at another place. */
  async openRecorded(name: string): Promise<IcebergTable> {
    const { recordedLocation, metadataFile } = this.expectation(name);
    const to = join(this.directory, name, 'table');
    return this.#open(name, typeof metadataFile === 'string' ? `table/${metadataFile}` : 'table', {
      pathMap: [{ from: textOf(recordedLocation), to }],
    });
  }

  /** Rows of a snapshot as canonical text, in no order. */
  async rows(table: IcebergTable, snapshot: Snapshot, options: CanonicalOptions): Promise<readonly string[]> {
    const relation = await this.engine.scan(await table.scan(snapshot));
    try {
      const rows: string[] = [];
      for await (const batch of this.engine.read(relation)) rows.push(...canonicalRows(batch, options));
      return rows;
    } finally {
      await relation.dispose();
    }
  }

  /** Rows of a table about the table, as canonical text in their order. */
  async metadataRows(table: IcebergTable, name: string): Promise<readonly string[]> {
    const rows: string[] = [];
    const metadata = await table.metadataTable(name, undefined);
    for await (const batch of metadata.rows()) rows.push(...canonicalRows(batch, {}));
    return rows;
  }

  async #open(name: string, path: string, options: OpenTableOptions): Promise<IcebergTable> {
    const table = await this.#tables.open(name, join(this.directory, name, path), undefined, options);
    if (table === undefined) throw new NoTable(name);
    return table;
  }
}

class NoTable extends Error {
  readonly code = 'TABLE_NOT_FOUND';
  constructor(name: string) {
    super(`there is no table ${name}`);
  }
}

/** The type as the packs spell it: the format's own names. */
export function icebergText(type: DataType): string {
  switch (type.kind) {
    case 'struct': {
      const fields = type.fields.map(
        ({ name, type: inner, nullable }) => `${quoted(name)}:${icebergText(inner)}${nullable ? '' : ' not null'}`,
      );
      return `struct<${fields.join(',')}>`;
    }
    case 'list':
      return `list<${icebergText(type.element)}${type.elementNullable ? '' : ' not null'}>`;
    case 'map':
      return `map<${icebergText(type.key)},${icebergText(type.value)}${type.valueNullable ? '' : ' not null'}>`;
    default:
      return icebergTypeText(type).replaceAll(' ', '');
  }
}

/** Text of an expectation. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function quoted(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : `\`${name.replaceAll('`', '``')}\``;
}
