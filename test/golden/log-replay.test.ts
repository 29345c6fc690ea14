import { readdirSync, readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/base/bigint-json.ts';
import { type LogSource, loadSnapshot } from '../../src/delta/log/load-snapshot.ts';
import { parquetRows } from '../../src/delta/log/parquet-rows.ts';
import { MemoryObjectStore } from '../../src/storage/memory-object-store.ts';
import { toVersion } from '../../src/table/version.ts';
import { StepClock } from '../support/step-clock.ts';

const folder = new URL('log-replay/', import.meta.url);

function objectOf(value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value)) throw new TypeError('not an object');
  return value;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (!Array.isArray(value)) throw new TypeError('not a list');
  return value.map((entry: JsonValue) => entry);
}

async function open(golden: JsonObject, name: string): Promise<LogSource> {
  const store = new MemoryObjectStore({ name, clock: new StepClock() });
  for (const [path, text] of Object.entries(objectOf(golden['files']))) {
    await store.put(path, new Uint8Array(inflateSync(Buffer.from(typeof text === 'string' ? text : '', 'base64'))));
  }
  return { name, store, codec: parquetRows };
}

describe('logs written by other engines', () => {
  for (const file of readdirSync(folder)) {
    const golden = objectOf(parseJson(readFileSync(new URL(file, folder), 'utf8'), file));
    const name = file.replace('.json', '');

    if (golden['readable'] === false) {
      it(`refuses ${name}`, async () => {
        const source = await open(golden, name);
        await expect(loadSnapshot(source)).rejects.toMatchObject({ kind: 'corrupt' });
      });
      continue;
    }

    it(`replays ${name} to the state other engines see, at every version`, async () => {
      const source = await open(golden, name);
      const versions = listOf(golden['versions']).map(objectOf);
      expect(versions.length).toBeGreaterThan(0);
      for (const expected of versions) {
        const log = objectOf(expected['log']);
        const snapshot = await loadSnapshot(source, toVersion(Number(expected['version'])));
        expect(snapshot?.fileCount).toBe(log['numFiles']);
        expect(snapshot?.schema.fields.map((field) => field.name)).toEqual(expected['columns']);
        expect(snapshot?.partitionColumns).toEqual(expected['partitionColumns']);
        if (Array.isArray(log['files']))
          expect(Array.from(snapshot?.files() ?? [], (live) => live.path).sort()).toEqual(listOf(log['files']).toSorted());
        for (const [appId, mark] of Object.entries(objectOf(log['transactions'] ?? {}))) {
          expect(snapshot?.progressOf(appId)).toBe(BigInt(Number(mark)));
        }
      }
    });
  }
});
