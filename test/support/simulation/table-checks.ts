import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../../../src/base/bigint-json.ts';
import { auditHistory } from '../../../src/commit/audit.ts';
import { parseAccounting } from '../../../src/protocol/commit-accounting.ts';
import { parseWriterId } from '../../../src/protocol/source-offsets.ts';
import type { HistoryEntry } from '../../../src/table/table.ts';
import { type RawFile, type RawFiles, type RawRow, type RawVersion, replay, shown } from './raw-table.ts';
import type { RecordingStore } from './recording-store.ts';
import { pipeline, type ReportedCommit, retentionMs } from './simulated-world.ts';

export interface TableEvidence {
  readonly versions: readonly RawVersion[];
  readonly files: RawFiles;
  readonly store: RecordingStore;
}

/** I3: versions are dense and never rewritten. */
export function checkLog({ versions, store }: TableEvidence): readonly string[] {
  const gaps = versions.flatMap(({ version }, index) =>
    version === index ? [] : [`I3: version ${index} is missing, ${version} is there`],
  );
  const changed = store.overwritten
    .filter(
      (path) =>
        !path.endsWith('_last_checkpoint') &&
        !path.endsWith('version-hint.text') &&
        !path.endsWith('_last_vacuum_info') &&
        !path.includes('.checkpoint.'),
    )
    .map((path) => `I3: ${path} was written again with other bytes`);
  return [...gaps, ...changed];
}

/** I4: every add is of a file that is not live, every remove of one that is. */
export function checkReplay({ versions }: TableEvidence): readonly string[] {
  const live = new Set<string>();
  const ever = new Set<string>();
  const found: string[] = [];
  for (const { version, adds, removes } of versions) {
    for (const { path } of removes) if (!live.delete(path)) found.push(`I4: version ${version} removes ${path}, which is not live`);
    for (const { path } of adds) {
      if (ever.has(path)) found.push(`I4: version ${version} adds ${path} a second time`);
      ever.add(path);
      live.add(path);
    }
  }
  return found;
}

/** I2: marks only go up, and rows of a version lie between the mark before and the mark after it. */
export async function checkMarks({ versions, files }: TableEvidence): Promise<readonly string[]> {
  const found: string[] = [];
  const marks = new Map<number, bigint>();
  for (const { version, adds, marks: advanced } of versions) {
    const before = new Map(marks);
    for (const { writerId, value } of advanced) {
      const source = parseWriterId(writerId, pipeline);
      if (source === undefined) continue;
      // The first mark says where reading begins, which may be the first offset.
      const from = marks.get(source.partition) ?? -1n;
      if (value <= from) found.push(`I2: version ${version} moves the mark of partition ${source.partition} from ${from} to ${value}`);
      marks.set(source.partition, value);
    }
    for (const file of adds.filter(({ dataChange }) => dataChange)) {
      for (const { partition, offset } of await files.rows(file)) {
        if (partition < 0) continue;
        const [from, until] = [before.get(partition) ?? 0n, marks.get(partition) ?? 0n];
        if (offset < from || offset >= until)
          found.push(`I2: version ${version} holds ${partition}:${offset}, outside of ${from} to ${until}`);
      }
    }
  }
  return found.slice(0, 5);
}

/** I5 and I13: live files exist, are whole, hold as many rows as the log says, and no value lies outside its bounds. */
export async function checkFiles({ versions, files, store }: TableEvidence): Promise<readonly string[]> {
  const found: string[] = [];
  for (const file of replay(versions).values()) {
    const stored = await store.head(file.path);
    if (stored?.sizeBytes !== file.size)
      found.push(`I5: live file ${file.path} has ${stored?.sizeBytes ?? 'no'} bytes, the log says ${file.size}`);
  }
  for (const { adds } of versions) for (const file of adds) found.push(...checkStatistics(file, await files.rows(file)));
  return found;
}

function checkStatistics(file: RawFile, rows: readonly RawRow[]): readonly string[] {
  const found: string[] = [];
  if (file.stats['numRecords'] !== rows.length) {
    found.push(`I5: ${file.path} holds ${rows.length} rows, its statistics say ${printJson(file.stats['numRecords'] ?? null)}`);
  }
  for (const column of ['id', 'source_offset', 'amount']) {
    const values = rows.map((row) => row.values[column]);
    const nulls = values.filter((value) => value === null || value === undefined).length;
    if (member(file.stats, 'nullCount', column) !== nulls) found.push(`I13: ${file.path}: nullCount of ${column} is not ${nulls}`);
    const numbers = values.filter((value) => value !== null && value !== undefined).map((value) => Number(value));
    const [low, high] = [member(file.stats, 'minValues', column), member(file.stats, 'maxValues', column)];
    for (const value of numbers) {
      if (low === undefined || high === undefined || value < Number(low) || value > Number(high)) {
        found.push(`I13: ${file.path}: ${column} ${value} is outside of ${printJson(low ?? null)} to ${printJson(high ?? null)}`);
      }
    }
  }
  return found;
}

/** I6: nothing that some version needs was deleted, and nothing that none needs is left. */
export async function checkGarbage({ versions, store }: TableEvidence): Promise<readonly string[]> {
  const found: string[] = [];
  const addedAt = new Map<string, number>();
  const removedAt = new Map<string, number>();
  for (const { atMs, adds, removes } of versions) {
    for (const { path } of adds) addedAt.set(path, atMs);
    for (const { path } of removes) removedAt.set(path, atMs);
  }
  for (const { path, atMs } of store.deletions) {
    if (!path.endsWith('.parquet') || path.startsWith('_delta_log/') || !addedAt.has(path)) continue;
    const removed = removedAt.get(path);
    if (removed === undefined || removed > atMs) found.push(`I6: ${path} was deleted while it was live`);
    else if (atMs - removed < retentionMs) found.push(`I6: ${path} was deleted ${atMs - removed} ms after its removal`);
  }
  const live = replay(versions);
  for await (const { path } of store.list({ prefix: '' })) {
    if (path.endsWith('.parquet') && !path.startsWith('_delta_log/') && !live.has(path)) found.push(`I6: ${path} is left over`);
  }
  return found;
}

/** I7 and I8: versions that change no rows hold the same rows before and after, and the changes add up to the table. */
export async function checkRewrites({ versions, files }: TableEvidence): Promise<readonly string[]> {
  const found: string[] = [];
  const changes: string[] = [];
  for (const { version, operation, adds, removes } of versions) {
    const dataChange = [...adds, ...removes].some((file) => file.dataChange);
    const [before, after] = [await texts(removes, files), await texts(adds, files)];
    if (dataChange) changes.push(...after);
    else if (before.join('\n') !== after.join('\n')) found.push(`I7: version ${version} (${operation}) changed rows`);
  }
  const live = await texts([...replay(versions).values()], files);
  if (changes.sort().join('\n') !== live.join('\n'))
    found.push(`I8: ${changes.length} changed rows do not add up to the ${live.length} rows of the table`);
  return found;
}

async function texts(list: readonly RawFile[], files: RawFiles): Promise<string[]> {
  const rows = await Promise.all(list.map((file) => files.rows(file)));
  return rows
    .flat()
    .map(({ text }) => text)
    .sort();
}

/** I12: what a process said it committed is in that version; and the ledger audit agrees. */
export function checkLedger(
  { versions }: TableEvidence,
  reported: readonly ReportedCommit[],
  history: readonly HistoryEntry[],
): readonly string[] {
  const found: string[] = [];
  for (const { process, version, rows } of reported) {
    const accounting = parseAccounting(versions[version]?.userMetadata);
    if (accounting?.rows !== rows)
      found.push(`I12: ${process} reported ${rows} rows in version ${version}, which says ${accounting?.rows ?? 'nothing'}`);
  }
  const versionsReported = reported.map(({ version }) => version);
  if (new Set(versionsReported).size !== versionsReported.length) found.push('I12: two commits reported one version');
  for (const { level, version, rule, text } of auditHistory(history).findings) {
    if (level === 'error') found.push(`audit: version ${version}: ${rule}: ${text}`);
  }
  return found;
}

function member(stats: JsonObject, group: string, column: string): JsonValue | undefined {
  const values = stats[group];
  return values !== undefined && isJsonObject(values) ? values[column] : undefined;
}

/** The table's rows, for comparison with the source: `partition:offset` to text. */
export async function liveRows({ versions, files }: TableEvidence): Promise<readonly RawRow[]> {
  const rows = await Promise.all([...replay(versions).values()].map((file) => files.rows(file)));
  return rows.flat();
}

/** How a payload's row looks in `RawRow.text`. */
export function expectedText(partition: number, offset: bigint, payload: JsonObject): string {
  const amount = payload['amount'];
  const decimal = typeof amount === 'number' ? amount.toFixed(2) : 'null';
  const { id, city } = payload;
  return `${partition}:${offset} id=${shown(id as number)} city=${shown(city as string)} amount=${decimal}`;
}
