import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

/*
 * A reader of Delta logs that shares nothing with the product: JSON commits from version 0 on, whole. Tables of these tests keep every
 * commit, so no checkpoint is needed.
 */

export interface Add {
  readonly path: string;
  readonly size: number;
  readonly dataChange: boolean;
  readonly partitionValues: Readonly<Record<string, string | null>>;
  readonly stats: FileStats;
  /** Version that added it. */
  readonly version: number;
}

export interface FileStats {
  readonly numRecords: number;
  readonly minValues: Readonly<Record<string, unknown>>;
  readonly maxValues: Readonly<Record<string, unknown>>;
  readonly nullCount: Readonly<Record<string, number>>;
}

export interface LogVersion {
  readonly version: number;
  readonly operation: string;
  readonly adds: readonly Add[];
  readonly removes: readonly { readonly path: string; readonly dataChange: boolean }[];
  /** Paths of recorded changes. */
  readonly changeFiles: readonly string[];
  readonly marks: ReadonlyMap<string, bigint>;
}

export interface TableLog {
  readonly versions: readonly LogVersion[];
  /** Files of the newest version, by path. */
  readonly live: ReadonlyMap<string, Add>;
  /** Every file any version ever named. */
  readonly everNamed: ReadonlySet<string>;
  readonly findings: readonly string[];
}

const commitName = /^(\d{20})\.json$/;

/** Newest version of the log; -1 while there is none. */
export function newestVersion(tableDir: string): number {
  return Math.max(-1, ...commitNames(tableDir).map((name) => Number(name.slice(0, 20))));
}

/** Reads and replays the whole log. `findings` names every rule of the log that does not hold (I2, I3, I4). */
export function readLog(tableDir: string): TableLog {
  const findings: string[] = [];
  const versions = commitNames(tableDir).map((name) => readVersion(tableDir, name));
  versions.forEach(({ version }, index) => {
    if (version !== index) findings.push(`I3: version ${index} is missing, found ${version}`);
  });
  const live = new Map<string, Add>();
  const everNamed = new Set<string>();
  const marks = new Map<string, bigint>();
  for (const entry of versions) {
    findings.push(...replay(entry, live), ...advance(entry, marks));
    for (const path of [...entry.adds.map((add) => add.path), ...entry.changeFiles]) everNamed.add(path);
  }
  return { versions, live, everNamed, findings };
}

function replay({ version, adds, removes }: LogVersion, live: Map<string, Add>): string[] {
  const findings: string[] = [];
  const removed = new Set(removes.map((remove) => remove.path));
  for (const { path } of removes) {
    if (!live.delete(path)) findings.push(`I4: version ${version} removes ${path}, which is not live`);
  }
  for (const add of adds) {
    if (removed.has(add.path)) findings.push(`I4: version ${version} adds and removes ${add.path}`);
    if (live.has(add.path)) findings.push(`I4: version ${version} adds ${add.path}, which is live`);
    live.set(add.path, add);
  }
  return findings;
}

/** I2: the marks of a version, taken over into `known`, stand nowhere behind those before it. */
export function advance({ version, marks }: LogVersion, known: Map<string, bigint>): string[] {
  const findings: string[] = [];
  for (const [appId, value] of marks) {
    const before = known.get(appId);
    if (before !== undefined && value < before) findings.push(`I2: version ${version} moves ${appId} from ${before} back to ${value}`);
    known.set(appId, value);
  }
  return findings;
}

function readVersion(tableDir: string, name: string): LogVersion {
  const version = Number(name.slice(0, 20));
  const lines = readFileSync(join(tableDir, '_delta_log', name), 'utf8').split('\n');
  const actions = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, RawAction>);
  const of = (kind: string): RawAction[] => actions.flatMap((action) => (action[kind] === undefined ? [] : [action[kind]]));
  return {
    version,
    operation: of('commitInfo')[0]?.operation ?? '',
    adds: of('add').map((raw) => addOf(raw, version)),
    removes: of('remove').map((raw) => ({ path: decodeURIComponent(raw.path ?? ''), dataChange: raw.dataChange ?? false })),
    changeFiles: of('cdc').map((raw) => decodeURIComponent(raw.path ?? '')),
    marks: new Map(of('txn').map((raw) => [raw.appId ?? '', BigInt(raw.version ?? -1)])),
  };
}

interface RawAction {
  readonly path?: string;
  readonly size?: number;
  readonly dataChange?: boolean;
  readonly partitionValues?: Record<string, string | null>;
  readonly stats?: string;
  readonly operation?: string;
  readonly appId?: string;
  readonly version?: number;
}

function addOf(raw: RawAction, version: number): Add {
  const stats = JSON.parse(raw.stats ?? '{}') as Partial<FileStats>;
  return {
    path: decodeURIComponent(raw.path ?? ''),
    size: raw.size ?? -1,
    dataChange: raw.dataChange ?? false,
    partitionValues: raw.partitionValues ?? {},
    stats: {
      numRecords: stats.numRecords ?? -1,
      minValues: stats.minValues ?? {},
      maxValues: stats.maxValues ?? {},
      nullCount: stats.nullCount ?? {},
    },
    version,
  };
}

/** I5: every file any version names exists with its size. `deleted`: files a vacuum was to delete. */
export function missingFiles(tableDir: string, log: TableLog): readonly string[] {
  return log.versions
    .flatMap((version) => version.adds)
    .flatMap(({ path, size, version }) => {
      const file = join(tableDir, path);
      if (!existsSync(file)) return [`I5: ${path} of version ${version} is missing`];
      const actual = statSync(file).size;
      return actual === size ? [] : [`I5: ${path} of version ${version} has ${actual} bytes, not ${size}`];
    });
}

export interface Orphan {
  readonly path: string;
  readonly modifiedMs: number;
}

/** Notes of who reads the table: no version names them, and cleaners leave them. */
export function isReaderNote(path: string): boolean {
  return /^_tidewater\/readers\/[^/]+\.json$/.test(path);
}

/** I6: what lies in the table and no version names: data files, and leftovers of unfinished writes in the log. */
export function orphans(tableDir: string, log: TableLog): readonly Orphan[] {
  const files = readdirSync(tableDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map((entry) => join(entry.parentPath, entry.name).slice(tableDir.length + 1))
    .filter((path) => (path.startsWith('_delta_log/') ? !isLogFile(path) : !log.everNamed.has(path) && !isReaderNote(path)))
    .map((path) => ({ path, modifiedMs: statSync(join(tableDir, path)).mtimeMs }));
}

function isLogFile(path: string): boolean {
  return /^_delta_log\/(\d{20}\.(json|crc|checkpoint(\.[\w-]+)*\.parquet)|_last_checkpoint|_last_vacuum_info|\.\d{20}\.json\.crc)$/.test(
    path,
  );
}

function commitNames(tableDir: string): readonly string[] {
  const dir = join(tableDir, '_delta_log');
  return existsSync(dir)
    ? readdirSync(dir)
        .filter((name) => commitName.test(name))
        .sort()
    : [];
}

/** Remembers the bytes of every log entry when it is first seen (I3: a published entry never changes). */
export class LogWatch {
  readonly #directory: string;
  readonly #entry: RegExp;
  readonly #hashes = new Map<string, string>();
  readonly #timer: NodeJS.Timeout;

  /** `folder`: where the entries are, of a table that is no Delta table: the metadata files that the product writes itself are watched. */
  constructor(tableDir: string, folder?: string) {
    this.#directory = join(tableDir, folder ?? '_delta_log');
    this.#entry = folder === undefined ? commitName : /\.avro$|^v\d+\.metadata\.json$/;
    this.#timer = setInterval(() => {
      this.look();
    }, 50);
  }

  /**
   * Stops watching; names the entries that are gone or differ from when they were first seen. `named`: paths in the table that count; what
   * lost attempts wrote may go.
   */
  finish(named?: ReadonlySet<string>): readonly string[] {
    clearInterval(this.#timer);
    const before = new Map(this.#hashes);
    this.look();
    return [...before].flatMap(([name, hash]) => {
      if (named?.has(`${basename(this.#directory)}/${name}`) === false) return [];
      const file = join(this.#directory, name);
      if (!existsSync(file)) return [`I3: log entry ${name} is gone`];
      return hashOf(file) === hash ? [] : [`I3: log entry ${name} changed after it was published`];
    });
  }

  /** Looks for entries that came since; also done by itself, many times a second. */
  look(): void {
    for (const name of existsSync(this.#directory) ? readdirSync(this.#directory) : []) {
      if (this.#entry.test(name) && !this.#hashes.has(name)) this.#hashes.set(name, hashOf(join(this.#directory, name)));
    }
  }
}

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
