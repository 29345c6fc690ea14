import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { Add, TableLog } from './checks-log.ts';

/*
 * The rows of a table by DuckDB's Parquet reader, over the files that `checks-log.ts` found. Partition columns are in the log, not in
 * the files; the text form of a row is that of a change event.
 */

const statColumns = ['id', 'name', 'amount', 'price', 'at', 'kafka_partition', 'kafka_offset'] as const;

/** A DuckDB without a database. */
export async function withDuckDb<T>(use: (db: DuckDBConnection) => Promise<T>): Promise<T> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  try {
    return await use(connection);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** `partition:offset` of every row of the newest version, one entry a row. */
export async function sourceOffsets(db: DuckDBConnection, tableDir: string, log: TableLog): Promise<readonly string[]> {
  if (log.live.size === 0) return [];
  const found = await rows(db, `select kafka_partition || ':' || kafka_offset as source from ${scan(tableDir, [...log.live.values()])}`);
  return found.map((row) => String(row['source']));
}

/** The number of every row of the newest version, one entry a row. */
export async function sourceIds(db: DuckDBConnection, tableDir: string, log: TableLog): Promise<readonly number[]> {
  if (log.live.size === 0) return [];
  const found = await rows(db, `select id::double as id from ${scan(tableDir, [...log.live.values()])}`);
  return found.map((row) => Number(row['id']));
}

/** Every row of the files as canonical text, sorted. */
export async function rowTexts(db: DuckDBConnection, tableDir: string, adds: readonly Add[]): Promise<readonly string[]> {
  if (adds.length === 0) return [];
  const kinds = new Map(adds.map((add) => [join(tableDir, add.path), add.partitionValues['kind'] ?? null]));
  const found = await rows(
    db,
    `select filename, id::varchar id, name, amount::varchar amount, price,
       strftime("at"::timestamp, '%Y-%m-%dT%H:%M:%S.%fZ') at_text, kafka_partition, kafka_offset::varchar kafka_offset
     from ${scan(tableDir, adds)}`,
  );
  return found
    .map((row) =>
      rowText({
        id: row['id'],
        kind: kinds.get(String(row['filename'])),
        name: row['name'],
        amount: row['amount'],
        price: row['price'],
        at: row['at_text'],
        kafka_partition: row['kafka_partition'],
        kafka_offset: row['kafka_offset'],
      }),
    )
    .sort();
}

/** One form for a row, whether it came from a file or from an event. */
export function rowText(row: Readonly<Record<string, unknown>>): string {
  const text = (name: string): string | null => {
    const value = row[name];
    return value === null || value === undefined ? null : textOf(value);
  };
  return JSON.stringify(['id', 'kind', 'name', 'amount', 'price', 'at', 'kafka_partition', 'kafka_offset'].map(text));
}

/** I2: every version's rows lie between the marks before it and its own. */
export async function offsetFindings(db: DuckDBConnection, tableDir: string, log: TableLog): Promise<readonly string[]> {
  const findings: string[] = [];
  const marks = new Map<string, bigint>();
  for (const { version, adds, marks: moved } of log.versions) {
    const added = adds.filter((add) => add.dataChange);
    const before = new Map(marks);
    for (const [appId, value] of moved) marks.set(appId.split(':')[2] ?? '', value);
    if (added.length === 0) continue;
    const ranges = await rows(
      db,
      `select kafka_partition::varchar p, min(kafka_offset)::varchar lo, max(kafka_offset)::varchar hi from ${scan(tableDir, added)} group by 1`,
    );
    for (const range of ranges) {
      const [p, lo, hi] = [textOf(range['p']), textOf(range['lo']), textOf(range['hi'])];
      const from = before.get(p) ?? 0n;
      const until = marks.get(p) ?? -1n;
      if (BigInt(lo) < from || BigInt(hi) >= until) {
        findings.push(`I2: version ${version} holds offsets ${lo} to ${hi} of partition ${p}, its marks say [${from}, ${until})`);
      }
    }
  }
  return findings;
}

/** I7: a version that says it changes no rows removes and adds the same ones. */
export async function rewriteFindings(db: DuckDBConnection, tableDir: string, log: TableLog): Promise<readonly string[]> {
  const findings: string[] = [];
  const byPath = new Map(log.versions.flatMap((version) => version.adds.map((add) => [add.path, add] as const)));
  for (const { version, operation, adds, removes } of log.versions) {
    if (removes.length === 0) continue;
    const inputs = removes.flatMap(({ path }) => byPath.get(path) ?? []);
    const [before, after] = [await rowTexts(db, tableDir, inputs), await rowTexts(db, tableDir, adds)];
    if (before.join('\n') !== after.join('\n')) {
      findings.push(`I7: version ${version} (${operation}) turns ${before.length} rows into ${after.length} others`);
    }
    if ([...adds, ...removes].some(({ dataChange }) => dataChange))
      findings.push(`I7: version ${version} (${operation}) claims a data change`);
  }
  return findings;
}

/** I5, I13: row counts, null counts and bounds of every file against what is in it. */
export async function statisticsFindings(db: DuckDBConnection, tableDir: string, log: TableLog): Promise<readonly string[]> {
  const adds = log.versions.flatMap((version) => version.adds);
  if (adds.length === 0) return [];
  const columns = statColumns.flatMap((name) => [
    `count(*) - count("${name}") as nulls_${name}`,
    `min(${comparable(name)})::varchar as min_${name}`,
    `max(${comparable(name)})::varchar as max_${name}`,
  ]);
  const found = await rows(db, `select filename, count(*) as total, ${columns.join(', ')} from ${scan(tableDir, adds)} group by filename`);
  const byFile = new Map(found.map((row) => [String(row['filename']), row]));
  return adds.flatMap((add) => {
    const actual = byFile.get(join(tableDir, add.path));
    if (actual === undefined) return [`I5: ${add.path} has no rows`];
    return checkStatistics(add, actual);
  });
}

function checkStatistics({ path, stats }: Add, actual: Row): string[] {
  const findings: string[] = [];
  if (BigInt(stats.numRecords) !== BigInt(String(actual['total']))) {
    findings.push(`I5: ${path} says ${stats.numRecords} rows, it has ${String(actual['total'])}`);
  }
  for (const name of statColumns) {
    const nulls = stats.nullCount[name];
    if (nulls !== undefined && BigInt(nulls) !== BigInt(String(actual[`nulls_${name}`]))) {
      findings.push(`I13: ${path} ${name} says ${nulls} nulls, it has ${String(actual[`nulls_${name}`])}`);
    }
    const [low, high] = [actual[`min_${name}`], actual[`max_${name}`]];
    if (typeof low !== 'string' || typeof high !== 'string') continue;
    if (name in stats.minValues && above(name, stats.minValues[name], low)) {
      findings.push(`I13: ${path} ${name} has minimum ${low}, its bound is ${String(stats.minValues[name])}`);
    }
    if (name in stats.maxValues && above(name, high, stats.maxValues[name])) {
      findings.push(`I13: ${path} ${name} has maximum ${high}, its bound is ${String(stats.maxValues[name])}`);
    }
  }
  return findings;
}

/** Whether `left` lies above `right`. Bounds of timestamps have milliseconds: within one of them anything goes. */
function above(name: string, left: unknown, right: unknown): boolean {
  if (name === 'name') return String(left) > String(right);
  if (name === 'at') return micros(left) - micros(right) > 999;
  return Number(left) > Number(right);
}

function micros(value: unknown): number {
  const text = String(value);
  return /^-?\d+$/.test(text) ? Number(text) : Date.parse(text) * 1_000;
}

function comparable(name: string): string {
  return name === 'at' ? 'epoch_us("at")' : `"${name}"`;
}

type Row = Readonly<Record<string, unknown>>;

/** Text of a value of DuckDB or of an event: numbers, 64-bit ones too, and texts; nothing else occurs. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return value.toString();
  throw new TypeError(`no text for ${typeof value}`);
}

async function rows(db: DuckDBConnection, sql: string): Promise<readonly Row[]> {
  const result = await db.runAndReadAll(sql);
  return result.getRowObjectsJS();
}

/** The files, as a table of DuckDB. */
export function scan(tableDir: string, adds: readonly Add[]): string {
  const files = adds.map((add) => `'${join(tableDir, add.path).replaceAll("'", "''")}'`);
  return `read_parquet([${files.join(', ')}], filename = true, hive_partitioning = false)`;
}
