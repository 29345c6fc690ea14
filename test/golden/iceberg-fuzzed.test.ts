import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeError, isServiceError } from '../../src/base/errors.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { damageIcebergStructure } from '../support/fuzz/damage-iceberg-structure.ts';
import { namesPlace } from '../support/fuzz/questions.ts';
import { GoldenIceberg } from '../support/golden-iceberg.ts';
import { propertySeed, propertyTimeoutMs, triesOf } from '../support/property/property-runs.ts';

// Story: metadata is bytes that anybody may have written and any disk may have lost. Whatever they are, a reader gives rows or an error with
// a name; it does not throw anything else, hang, or open a file that the table does not own. Data files are left alone: those are the
// engine's to read.

const pack = 'fixtures-iceberg';
const cases = triesOf(80);
const bases = [
  'equality-deletes',
  'nested',
  'position-deletes',
  'spec-evolution',
  'v1-table',
  'v3-deletion-vectors',
  'orc-data',
  'avro-data',
] as const;
const damages = ['flip', 'cut', 'zeros', 'repeat', 'empty'] as const;

describe('damaged copies of sound tables', () => {
  let golden: GoldenIceberg;

  beforeAll(async () => {
    golden = await GoldenIceberg.unpack(pack);
  });

  afterAll(async () => {
    await golden.close();
  });

  it(
    `are read or refused by name (seed ${propertySeed})`,
    async () => {
      const faults: string[] = [];
      let refused = 0;
      for (let index = 0; index < cases; index++) {
        const seed = propertySeed + index;
        const outcome = await outcomeOf(golden, seed);
        if (outcome.kind === 'fault') faults.push(`seed ${seed}: ${outcome.detail}`);
        if (outcome.kind === 'refused') refused += 1;
      }
      expect(faults).toEqual([]);
      // Much damage is to files of older snapshots; some must show, or it is none.
      expect(refused).toBeGreaterThan(cases / 10);
    },
    propertyTimeoutMs,
  );

  it(
    `of the wrong shape give the same rows or are refused by name (seed ${propertySeed})`,
    async () => {
      const faults: string[] = [];
      let refused = 0;
      for (let index = 0; index < cases; index++) {
        const seed = propertySeed + index;
        const outcome = await outcomeOfShape(golden, seed);
        if (outcome.kind === 'fault') faults.push(`seed ${seed}: ${outcome.detail}`);
        if (outcome.kind === 'refused') refused += 1;
      }
      expect(faults).toEqual([]);
      expect(refused).toBeGreaterThan(cases / 10);
    },
    propertyTimeoutMs,
  );
});

type Outcome = { readonly kind: 'read' | 'refused' } | { readonly kind: 'fault'; readonly detail: string };

interface DamagedCopy {
  readonly name: string;
  readonly base: (typeof bases)[number];
  readonly room: string;
  /** A file of the table whose name fits. */
  readonly path: string;
}

function copyOf(golden: GoldenIceberg, seed: number, random: SeededRandom, names: RegExp): DamagedCopy {
  const base = pick(random, bases);
  const name = `case-${seed}`;
  const room = join(golden.directory, name);
  cpSync(join(golden.directory, 'iceberg', base), room, { recursive: true });
  const files = readdirSync(join(room, 'table'), { recursive: true, encoding: 'utf8' }).filter((path) => names.test(path));
  return { name, base, room, path: join(room, 'table', pick(random, files.sort())) };
}

/** One of ours, which names the table or a file of it. */
function isNamed(error: unknown, table: string): boolean {
  return isServiceError(error) && namesPlace(error, table);
}

async function outcomeOfShape(golden: GoldenIceberg, seed: number): Promise<Outcome> {
  const random = new SeededRandom(seed);
  const { name, base, room, path } = copyOf(golden, seed, random, /^metadata\/.*\.(metadata\.json|avro)$/);
  const rows = async (): Promise<string> => {
    const table = await golden.openRecorded(name);
    return [...(await golden.rows(table, await table.refresh(), {}))].sort().join('\n');
  };
  try {
    const sound = await rows();
    const what = `${base}, ${path.slice(room.length)}: ${damageIcebergStructure(random, path)}`;
    try {
      return (await rows()) === sound ? { kind: 'read' } : { kind: 'fault', detail: `${what}: gives other rows` };
    } catch (error) {
      return isNamed(error, name) ? { kind: 'refused' } : { kind: 'fault', detail: `${what}: ${describeError(error)}` };
    }
  } finally {
    rmSync(room, { recursive: true, force: true });
  }
}

async function outcomeOf(golden: GoldenIceberg, seed: number): Promise<Outcome> {
  const random = new SeededRandom(seed);
  const { name, base, room, path } = copyOf(golden, seed, random, /\.(json|avro|puffin|orc|text)$/);
  const kind = pick(random, damages);
  writeFileSync(path, damaged(random, readFileSync(path), kind));
  try {
    const table = await golden.openRecorded(name);
    await golden.rows(table, await table.refresh(), {});
    for (const about of ['files', 'manifests', 'partitions', 'history']) await golden.metadataRows(table, about);
    return { kind: 'read' };
  } catch (error) {
    return isNamed(error, name)
      ? { kind: 'refused' }
      : { kind: 'fault', detail: `${base}, ${kind} ${path.slice(room.length)}: ${describeError(error)}` };
  } finally {
    rmSync(room, { recursive: true, force: true });
  }
}

function damaged(random: SeededRandom, bytes: Buffer, kind: (typeof damages)[number]): Uint8Array {
  const at = Math.floor(random.next() * bytes.length);
  const copy = Buffer.from(bytes);
  switch (kind) {
    case 'flip':
      copy.writeUInt8(copy.readUInt8(at) ^ (1 << Math.floor(random.next() * 8)), at);
      return copy;
    case 'cut':
      return copy.subarray(0, at);
    case 'zeros':
      return copy.fill(0, at, Math.min(copy.length, at + 16));
    case 'repeat':
      return Buffer.concat([copy.subarray(0, at), copy.subarray(Math.max(0, at - 32))]);
    case 'empty':
      return new Uint8Array();
  }
}

function pick<Item>(random: SeededRandom, items: readonly Item[]): Item {
  const item = items[Math.floor(random.next() * items.length)];
  if (item === undefined) throw new RangeError('nothing to pick from');
  return item;
}
