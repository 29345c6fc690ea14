import { isJsonObject, type JsonObject, type JsonValue, parseJson, printJson } from '../../../src/base/bigint-json.ts';
import { readParquet } from '../../../src/codec/parquet/read-parquet.ts';
import { type PlainValue, rowsOf } from '../../../src/codec/rows.ts';
import type { RecordingStore } from './recording-store.ts';

/** A file action of the log, read without the product's log reader. */
export interface RawFile {
  readonly path: string;
  readonly partitionValues: JsonObject;
  readonly size: number;
  readonly dataChange: boolean;
  readonly stats: JsonObject;
}

export interface RawVersion {
  readonly version: number;
  readonly atMs: number;
  readonly adds: readonly RawFile[];
  readonly removes: readonly RawFile[];
  readonly marks: readonly { readonly writerId: string; readonly value: bigint }[];
  readonly operation: string;
  readonly userMetadata: string;
}

/** A row as text, with the source record it came from; foreign rows have partition -1. */
export interface RawRow {
  readonly partition: number;
  readonly offset: bigint;
  readonly text: string;
  readonly values: Readonly<Record<string, PlainValue>>;
}

const commitName = /^_delta_log\/(\d{20})\.json$/;

/** The whole log that was ever written, oldest first, whatever cleanup has taken since. */
export function rawVersions(store: RecordingStore): readonly RawVersion[] {
  return [...store.written.values()]
    .flatMap((object) => {
      const match = commitName.exec(object.path);
      return match === null ? [] : [{ version: Number(match[1]), object }];
    })
    .sort((left, right) => left.version - right.version)
    .map(({ version, object }) => rawVersion(version, object.atMs, Buffer.from(object.bytes).toString('utf8')));
}

/** Rows of a file by its bytes as they were stored, even after it was deleted. */
export class RawFiles {
  readonly #store: RecordingStore;
  readonly #known = new Map<string, readonly RawRow[]>();

  constructor(store: RecordingStore) {
    this.#store = store;
  }

  async rows(file: RawFile): Promise<readonly RawRow[]> {
    const known = this.#known.get(file.path);
    if (known !== undefined) return known;
    const stored = this.#store.written.get(file.path);
    if (stored === undefined) return [];
    const { batches } = await readParquet(stored.bytes);
    const rows = [...rowsOf(batches)].map((row): RawRow => {
      const values = { ...row, ...textValues(file.partitionValues) };
      const { id, city, amount, source_partition: partition, source_offset: offset } = values;
      const text = `${shown(partition)}:${shown(offset)} id=${shown(id)} city=${shown(city)} amount=${shown(amount)}`;
      return { partition: Number(partition), offset: typeof offset === 'bigint' ? offset : -1n, text, values };
    });
    this.#known.set(file.path, rows);
    return rows;
  }
}

/** Live files after each version, by path. */
export function replay(versions: readonly RawVersion[]): Map<string, RawFile> {
  const live = new Map<string, RawFile>();
  for (const version of versions) {
    for (const file of version.removes) live.delete(file.path);
    for (const file of version.adds) live.set(file.path, file);
  }
  return live;
}

export function shown(value: PlainValue | undefined): string {
  if (value === null || value === undefined) return 'null';
  return typeof value === 'object' ? 'nested' : String(value);
}

function rawVersion(version: number, atMs: number, body: string): RawVersion {
  const adds: RawFile[] = [];
  const removes: RawFile[] = [];
  const marks: { readonly writerId: string; readonly value: bigint }[] = [];
  let [operation, userMetadata] = ['', ''];
  for (const line of body.split('\n').filter((candidate) => candidate !== '')) {
    const action = object(parseJson(line, `version ${version}`));
    if (action['add'] !== undefined) adds.push(rawFile(object(action['add'])));
    if (action['remove'] !== undefined) removes.push(rawFile(object(action['remove'])));
    if (action['txn'] !== undefined) {
      const { appId, version: value } = object(action['txn']);
      marks.push({ writerId: textOf(appId), value: BigInt(printJson(value ?? null)) });
    }
    if (action['commitInfo'] !== undefined) {
      const info = object(action['commitInfo']);
      operation = textOf(info['operation']);
      userMetadata = textOf(info['userMetadata']);
    }
  }
  return { version, atMs, adds, removes, marks, operation, userMetadata };
}

function rawFile(action: JsonObject): RawFile {
  const stats = action['stats'];
  return {
    path: decodeURIComponent(textOf(action['path'])),
    partitionValues: object(action['partitionValues'] ?? {}),
    size: Number(action['size'] ?? 0),
    dataChange: action['dataChange'] === true,
    stats: typeof stats === 'string' ? object(parseJson(stats, 'stats')) : {},
  };
}

function object(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function textValues(values: JsonObject): Record<string, string | null> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value : null]));
}
