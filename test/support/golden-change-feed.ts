import { readFile } from 'node:fs/promises';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/base/bigint-json.ts';
import { MemoryObjectStore } from '../../src/storage/memory-object-store.ts';
import { StepClock } from './step-clock.ts';

/** What is expected of an inclusive range of versions. */
export interface ExpectedChanges {
  readonly from: number;
  readonly to: number;
  readonly error: string | undefined;
  readonly rows: readonly JsonObject[];
}

export interface GoldenFeed {
  readonly store: MemoryObjectStore;
  readonly clock: StepClock;
  readonly changes: readonly ExpectedChanges[];
}

/** Unpacks a case of test/golden/change-feed into a memory store; the layout is described in test/golden/CATALOGUE.md. */
export async function loadGoldenFeed(name: string): Promise<GoldenFeed> {
  const path = new URL(`../golden/change-feed/${name}.json`, import.meta.url);
  const packed = parseJson(await readFile(path, 'utf8'), name);
  const clock = new StepClock();
  const store = new MemoryObjectStore({ name, clock });
  for (const [file, base64] of Object.entries(objectAt(packed, 'files'))) {
    if (typeof base64 === 'string') await store.put(file, Buffer.from(base64, 'base64'));
  }
  return { store, clock, changes: listAt(packed, 'changes').map(expectation) };
}

function expectation(value: JsonValue): ExpectedChanges {
  const { from, to, error } = isJsonObject(value) ? value : {};
  return {
    from: Number(from),
    to: Number(to),
    error: typeof error === 'string' ? error : undefined,
    rows: listAt(value, 'rows').filter((row) => isJsonObject(row)),
  };
}

function objectAt(value: JsonValue, key: string): JsonObject {
  const member = isJsonObject(value) ? value[key] : undefined;
  return isJsonObject(member) ? member : {};
}

function listAt(value: JsonValue, key: string): readonly JsonValue[] {
  const member: unknown = isJsonObject(value) ? value[key] : undefined;
  return Array.isArray(member) ? (member as readonly JsonValue[]) : [];
}
