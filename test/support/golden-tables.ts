import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, printJson } from '../../src/base/bigint-json.ts';
import { RandomIdSource } from '../../src/base/ids.ts';
import { SystemClock } from '../../src/base/system-clock.ts';
import { SystemRandom } from '../../src/base/system-random.ts';
import { type CanonicalOptions, canonicalRows } from '../../src/codec/canonical-json.ts';
import { DeltaTable } from '../../src/delta/delta-table.ts';
import { DeltaTables } from '../../src/delta/delta-tables.ts';
import { DuckdbEngine } from '../../src/engine/duckdb-engine.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { ParquetFileRewriter } from '../../src/maintenance/file-rewriter.ts';
import type { DataType } from '../../src/schema/types.ts';
import { openObjectStore } from '../../src/storage/open-object-store.ts';
import type { FileScan } from '../../src/table/scan.ts';
import { toVersion } from '../../src/table/version.ts';
import { unpackTar } from './unpack-tar.ts';

/** Unpacked packs of tables of other engines, and an engine to read them with. */
export class GoldenTables {
  readonly directory: string = mkdtempSync(join(tmpdir(), 'tidewater-golden-'));
  readonly engine: Engine;

  private constructor(engine: Engine) {
    this.engine = engine;
  }

  static async unpack(pack: string): Promise<GoldenTables> {
    const random = new SystemRandom();
    const engine = await DuckdbEngine.open({
      memoryLimitBytes: 1024 ** 3,
      threads: 2,
      temporaryDirectory: tmpdir(),
      ids: new RandomIdSource(random),
    });
    const golden = new GoldenTables(engine);
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

  async open(name: string): Promise<DeltaTable> {
    const random = new SystemRandom();
    const tables = new DeltaTables({
      openStore: openObjectStore,
      clock: new SystemClock(),
      random,
      ids: new RandomIdSource(random),
      version: 'test',
      rewriter: new ParquetFileRewriter({ openStore: openObjectStore }),
      engine: () => Promise.resolve(this.engine),
    });
    const table = await tables.open(name, join(this.directory, name, 'table'));
    if (table instanceof DeltaTable) return table;
    throw new NoTable(name);
  }

  /** The rows of a version as canonical text, in no order. */
  async rows(table: DeltaTable, version: number, options: CanonicalOptions): Promise<readonly string[]> {
    const snapshot = await table.snapshotAt(toVersion(version));
    return this.rowsOf(await table.scan(snapshot), options);
  }

  async rowsOf(scan: FileScan, options: CanonicalOptions): Promise<readonly string[]> {
    const relation = await this.engine.scan(scan);
    try {
      const rows: string[] = [];
      for await (const batch of this.engine.read(relation)) rows.push(...canonicalRows(batch, options));
      return rows;
    } finally {
      await relation.dispose();
    }
  }

  /**
   * The change rows of a range of versions (both included) as canonical text, in no order. With members in the order of the schema, else
   * sorted; `_commit_timestamp` only when it is asked for.
   */
  async changes(
    table: DeltaTable,
    range: { readonly from: number; readonly to: number },
    options: CanonicalOptions & { readonly timestamps?: boolean | undefined },
  ): Promise<readonly string[]> {
    const rows: string[] = [];
    for await (const change of table.changeScans({ from: toVersion(range.from), until: toVersion(range.to) })) {
      const { scan, kind, version, committedAtMicros } = change;
      const relation = await this.engine.scan(scan);
      const type = kind === 'recorded' ? '' : `, '${kind}' AS _change_type`;
      const time = options.timestamps === true ? `, make_timestamptz(${committedAtMicros}) AS _commit_timestamp` : '';
      const sql = `SELECT *${type}, ${version}::BIGINT AS _commit_version${time} FROM (${relation.sql})`;
      const schema = await this.engine.describe(sql);
      for await (const batch of this.engine.read({ sql, schema })) rows.push(...canonicalRows(batch, options));
      await relation.dispose();
    }
    return rows;
  }
}

class NoTable extends Error {
  readonly code = 'TABLE_NOT_FOUND';
  constructor(name: string) {
    super(`there is no table ${name}`);
  }
}

/** The sum of the rows' SHA-256, modulo 2^256: the same in every order, and different when a row comes twice. */
export function rowsHash(rows: readonly string[]): string {
  let sum = 0n;
  for (const row of rows) sum += BigInt(`0x${createHash('sha256').update(row).digest('hex')}`);
  return (sum % (1n << 256n)).toString(16).padStart(64, '0');
}

/** The type as the pack spells it. */
export function goldenType(type: DataType): string {
  switch (type.kind) {
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    case 'struct': {
      const fields = type.fields.map((field) => `${goldenName(field.name)}:${goldenType(field.type)}${field.nullable ? '' : ' not null'}`);
      return `struct<${fields.join(',')}>`;
    }
    case 'list':
      return `array<${goldenType(type.element)}${type.elementNullable ? '' : ' not null'}>`;
    case 'map':
      return `map<${goldenType(type.key)},${goldenType(type.value)}${type.valueNullable ? '' : ' not null'}>`;
    default:
      return type.kind;
  }
}

function goldenName(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : `\`${name.replaceAll('`', '``')}\``;
}

/** JSON with the members of objects sorted by name, as canonical rows have them. */
export function canonicalText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${listOf(value).map(canonicalText).join(',')}]`;
  if (!isJsonObject(value)) return printJson(value);
  const names = Object.keys(value).sort((a, b) => (a < b ? -1 : 1));
  return `{${names.map((name) => `${printJson(name)}:${canonicalText(value[name] ?? null)}`).join(',')}}`;
}

/** The names of the directories of a pack that hold an `expect.json`. */
export function casesOf(pack: string): readonly string[] {
  const bytes = gunzipSync(readFileSync(new URL(`../golden/packs/${pack}.tar.gz`, import.meta.url)));
  const names = [...bytes.toString('latin1').matchAll(/(?:^|\0)([A-Za-z0-9_./-]+)\/expect\.json\0/g)].map((match) => match[1] ?? '');
  return [...new Set(names)].sort();
}

export function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return listOf(value).filter((entry) => isJsonObject(entry));
}

export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}
