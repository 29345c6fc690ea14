import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { readAvroFile } from './avro-file.ts';
import { type Add, advance, isReaderNote, type LogVersion, type Orphan, type TableLog } from './checks-log.ts';

/*
 * A reader of Iceberg tables that shares nothing with the product: metadata by JSON and by the catalog's own database, manifests by a
 * general Avro library. What it gives has the form of `checks-log.ts`, so that the same invariants are checked of it.
 */

/** How long another program's lock on the catalog's database is waited for; theirs last milliseconds. */
const lockWaitMs = 10_000;

/** Where the newest metadata of a table is said to be. */
export type IcebergPlace =
  /** The highest `v<n>.metadata.json`. */
  | { readonly kind: 'files' }
  /** A row of `iceberg_tables` in a SQLite database. */
  | { readonly kind: 'database'; readonly file: string };

export interface RawSnapshot {
  readonly 'snapshot-id': string;
  readonly 'parent-snapshot-id'?: string;
  readonly 'sequence-number': number;
  readonly 'manifest-list': string;
  readonly summary: Readonly<Record<string, string>>;
}

export interface RawMetadata {
  readonly 'current-snapshot-id'?: string;
  readonly snapshots?: readonly RawSnapshot[];
  readonly 'metadata-log'?: readonly { readonly 'metadata-file': string }[];
  readonly schemas: readonly { readonly fields: readonly { readonly id: number; readonly name: string; readonly type: string }[] }[];
}

interface RawEntry {
  readonly status: number;
  readonly snapshot_id: bigint | null;
  readonly data_file: RawFile;
}

interface RawFile {
  readonly file_path: string;
  readonly file_size_in_bytes: bigint;
  readonly record_count: bigint;
  readonly partition: Readonly<Record<string, unknown>>;
  readonly null_value_counts: readonly { readonly key: number; readonly value: bigint }[] | null;
  readonly lower_bounds: readonly { readonly key: number; readonly value: Buffer }[] | null;
  readonly upper_bounds: readonly { readonly key: number; readonly value: Buffer }[] | null;
}

interface RawManifest {
  readonly manifest_path: string;
  readonly manifest_length: bigint;
  readonly added_snapshot_id: bigint;
}

/** Location of the newest metadata; `undefined` while there is none. */
export function newestMetadata(tableDir: string, place: IcebergPlace): string | undefined {
  if (place.kind === 'database') return locationInDatabase(tableDir, place.file);
  const numbers = names(join(tableDir, 'metadata')).flatMap((name) => /^v(\d+)\.metadata\.json$/.exec(name)?.[1] ?? []);
  return numbers.length === 0 ? undefined : join(tableDir, 'metadata', `v${Math.max(...numbers.map(Number))}.metadata.json`);
}

/** Waits for a writer that holds the database: seen as absent, a table would look as if it had lost its versions. */
function locationInDatabase(tableDir: string, file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const db = new Database(file, { timeout: lockWaitMs });
  try {
    const rows = db.prepare('select metadata_location from iceberg_tables').all() as { readonly metadata_location: string }[];
    return rows.map((row) => plain(row.metadata_location)).find((location) => location.startsWith(tableDir));
  } catch (error) {
    if (String(error).includes('no such table')) return undefined;
    throw error;
  } finally {
    db.close();
  }
}

/** Reads the newest version's whole ancestry. `findings` names the rules that do not hold (I2, I3, I4). */
export function readIceberg(tableDir: string, place: IcebergPlace): TableLog {
  const location = newestMetadata(tableDir, place);
  if (location === undefined) return { versions: [], live: new Map(), everNamed: new Set(), findings: [] };
  const metadata = parseMetadata(readFileSync(location, 'utf8'));
  const named = [
    location,
    join(tableDir, 'metadata', 'version-hint.text'),
    ...(metadata['metadata-log'] ?? []).map((entry) => entry['metadata-file']),
  ];
  const source = { read: (file: string) => readFileSync(plain(file)), relative: (file: string) => relative(tableDir, file) };
  const { versions, snapshots, everNamed, findings: broken } = icebergVersions(metadata, source);
  const findings = versions.flatMap(({ version }, index) => {
    const before = versions[index - 1]?.version ?? -1;
    return version > before ? [] : [`I3: version ${version} follows ${before}`];
  });
  findings.push(...broken);
  const live = new Map<string, Add>();
  const marks = new Map<string, bigint>();
  for (const version of versions) findings.push(...replay(version, live), ...advance(version, marks));
  const newest = snapshots.at(-1);
  if (newest !== undefined) findings.push(...listFindings(newest, source, live));
  return { versions, live, everNamed: new Set([...named.map(source.relative), ...everNamed]), findings };
}

/** Where the files of a table are read, and how their locations are named below it. */
export interface IcebergSource {
  readonly read: (location: string) => Buffer;
  readonly relative: (location: string) => string;
}

export interface IcebergVersions {
  readonly versions: readonly LogVersion[];
  readonly snapshots: readonly RawSnapshot[];
  readonly everNamed: ReadonlySet<string>;
  /** I5: manifests whose size is not the one their list names. */
  readonly findings: readonly string[];
}

/** The versions of main, oldest first, with their snapshots and all files they name. */
export function icebergVersions(metadata: RawMetadata, source: IcebergSource): IcebergVersions {
  const fields = new Map(metadata.schemas.flatMap((schema) => schema.fields).map((field) => [field.id, field]));
  const context: Context = { source, fields, everNamed: new Set(), marks: new Map(), findings: [] };
  const snapshots = ancestry(metadata);
  const versions = snapshots.map((snapshot) => versionOf(snapshot, context));
  return { versions, snapshots, everNamed: context.everNamed, findings: context.findings };
}

/** Files in the table's directory that no version names. */
export function icebergOrphans(tableDir: string, log: TableLog): readonly Orphan[] {
  return readdirSync(tableDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(tableDir.length + 1))
    .filter((path) => !log.everNamed.has(path) && !isReaderNote(path) && !/(^|\/)\.[^/]*\.crc$/.test(path))
    .map((path) => ({ path, modifiedMs: statSync(join(tableDir, path)).mtimeMs }));
}

/** Snapshots of main, oldest first. */
function ancestry(metadata: RawMetadata): readonly RawSnapshot[] {
  const byId = new Map((metadata.snapshots ?? []).map((snapshot) => [snapshot['snapshot-id'], snapshot]));
  const found: RawSnapshot[] = [];
  let id = metadata['current-snapshot-id'];
  while (id !== undefined && byId.has(id)) {
    const snapshot = byId.get(id);
    if (snapshot === undefined) break;
    found.push(snapshot);
    id = snapshot['parent-snapshot-id'];
  }
  return found.reverse();
}

interface Context {
  readonly source: IcebergSource;
  readonly fields: ReadonlyMap<number, { readonly name: string; readonly type: string }>;
  readonly everNamed: Set<string>;
  readonly marks: Map<string, bigint>;
  readonly findings: string[];
}

function versionOf(snapshot: RawSnapshot, { source, fields, everNamed, marks, findings }: Context): LogVersion {
  const { summary } = snapshot;
  const version = snapshot['sequence-number'];
  const dataChange = summary['operation'] !== 'replace';
  const id = BigInt(snapshot['snapshot-id']);
  everNamed.add(source.relative(snapshot['manifest-list']));
  const [adds, removes]: [Add[], { path: string; dataChange: boolean }[]] = [[], []];
  for (const manifest of readAvroFile(source.read(snapshot['manifest-list'])).records as RawManifest[]) {
    const manifestPath = source.relative(manifest.manifest_path);
    everNamed.add(manifestPath);
    if (manifest.added_snapshot_id !== id) continue;
    const bytes = source.read(manifest.manifest_path);
    if (BigInt(bytes.length) !== manifest.manifest_length) {
      findings.push(`I5: ${manifestPath} of version ${version} has ${bytes.length} bytes, not ${manifest.manifest_length}`);
      continue;
    }
    for (const entry of readAvroFile(bytes).records as RawEntry[]) {
      const path = source.relative(entry.data_file.file_path);
      everNamed.add(path);
      if (entry.status === 1) adds.push(addOf(path, entry.data_file, { version, dataChange, fields }));
      else if (entry.status === 2) removes.push({ path, dataChange });
    }
  }
  const stored = Object.entries(JSON.parse(summary['tidewater.progress'] ?? '{}') as Record<string, string>);
  const moved = new Map(
    stored.map(([writer, mark]) => [writer, BigInt(mark)] as const).filter(([writer, mark]) => marks.get(writer) !== mark),
  );
  for (const [writer, mark] of moved) marks.set(writer, mark);
  const operation = summary['operation'] === 'replace' ? 'OPTIMIZE' : (summary['operation'] ?? '');
  return { version, operation, adds, removes, changeFiles: [], marks: moved };
}

/** I4: what readers of the newest version find in its manifests is what all versions together added and left. */
function listFindings(snapshot: RawSnapshot, source: IcebergSource, live: ReadonlyMap<string, Add>): string[] {
  const version = snapshot['sequence-number'];
  const manifests = readAvroFile(source.read(snapshot['manifest-list'])).records as RawManifest[];
  const entries = manifests.flatMap(({ manifest_path: path }) => readAvroFile(source.read(path)).records as RawEntry[]);
  const listed = entries.flatMap(({ status, data_file: file }) => (status === 2 ? [] : [source.relative(file.file_path)]));
  const once = new Set(listed);
  return [
    ...(once.size === listed.length ? [] : [`I4: version ${version} lists ${listed.length - once.size} files more than once`]),
    ...[...once].filter((path) => !live.has(path)).map((path) => `I4: version ${version} lists ${path}, which is not live`),
    ...[...live.keys()].filter((path) => !once.has(path)).map((path) => `I4: version ${version} does not list ${path}, which is live`),
  ];
}

function replay({ version, adds, removes }: LogVersion, live: Map<string, Add>): string[] {
  const findings: string[] = [];
  for (const { path } of removes) if (!live.delete(path)) findings.push(`I4: version ${version} removes ${path}, which is not live`);
  for (const add of adds) {
    if (live.has(add.path)) findings.push(`I4: version ${version} adds ${add.path}, which is live`);
    live.set(add.path, add);
  }
  return findings;
}

function addOf(
  path: string,
  file: RawFile,
  { version, dataChange, fields }: { readonly version: number; readonly dataChange: boolean; readonly fields: Context['fields'] },
): Add {
  const kind = file.partition['kind'];
  const named = <Value, Result>(
    list: readonly { readonly key: number; readonly value: Value }[] | null,
    read: (value: Value, type: string) => Result,
  ): Record<string, Result> =>
    Object.fromEntries(
      (list ?? []).flatMap(({ key, value }) => {
        const field = fields.get(key);
        return field === undefined ? [] : [[field.name, read(value, field.type)]];
      }),
    );
  return {
    path,
    size: Number(file.file_size_in_bytes),
    dataChange,
    partitionValues: { kind: typeof kind === 'string' ? kind : null },
    stats: {
      numRecords: Number(file.record_count),
      nullCount: named(file.null_value_counts, Number),
      minValues: named(file.lower_bounds, boundOf),
      maxValues: named(file.upper_bounds, boundOf),
    },
    version,
  };
}

function boundOf(bytes: Buffer, type: string): unknown {
  const [, scale] = /^decimal\(\d+,\s*(\d+)\)$/.exec(type) ?? [];
  if (scale !== undefined) return Number(BigInt.asIntN(8 * bytes.length, BigInt(`0x${bytes.toString('hex')}`))) / 10 ** Number(scale);
  switch (type) {
    case 'boolean':
      return bytes[0] !== 0;
    case 'int':
      return bytes.readInt32LE();
    case 'double':
      return bytes.readDoubleLE();
    case 'string':
      return bytes.toString('utf8');
    default:
      return Number(bytes.readBigInt64LE());
  }
}

/** Ids are text: they do not fit into numbers. */
export function parseMetadata(json: string): RawMetadata {
  const text = json.replaceAll(/("(?:parent-|current-)?snapshot-id"\s*:\s*)(-?\d+)/g, '$1"$2"');
  return JSON.parse(text) as RawMetadata;
}

function relative(tableDir: string, location: string): string {
  const path = plain(location);
  return path.startsWith(`${tableDir}/`) ? path.slice(tableDir.length + 1) : path;
}

export function plain(location: string): string {
  return location.replace(/^file:\/*/, '/');
}

function names(directory: string): readonly string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}
