import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Random, randomInt } from '../../../src/base/random.ts';
import { damageActions } from './damage-actions.ts';
import { damageCheckpoint } from './damage-checkpoint.ts';
import { damageStructure } from './damage-structure.ts';
import { readBytes, type TableFiles, versionOf, writeBytes } from './table-files.ts';

/**
 * What the newest rows may be after damage: the rows of the sound table, an error, either (what is damaged may not be needed), or anything
 * that is no crash, because no reader could tell.
 */
export type Verdict = 'same' | 'refused' | 'same-or-refused' | 'anything';

export interface Damage {
  readonly text: string;
  readonly verdict: Verdict;
}

type Damager = (random: Random, files: TableFiles) => Damage | undefined | Promise<Damage | undefined>;

/** Damages a copy of a table in one way; `undefined`: this way is not open with this table. */
export async function damage(random: Random, files: TableFiles): Promise<Damage | undefined> {
  return pick(random, damagers)?.(random, files);
}

export function pick<Option>(random: Random, options: readonly Option[]): Option | undefined {
  return options[randomInt(random, options.length)];
}

const damagers: readonly Damager[] = [
  damageActions,
  damageActions,
  damageActions,
  damageActions,
  damageStructure,
  damageStructure,
  damageStructure,
  damageStructure,
  damageStructure,
  damageStructure,
  damageCheckpoint,
  damageCheckpoint,
  damageCheckpoint,
  damageCheckpoint,
  commitBytes,
  missingCommit,
  checkpointBytes,
  checkpointBytes,
  missingCheckpoint,
  hint,
  checksum,
  vector,
  vector,
  dataFile,
  dataFile,
  footer,
  footer,
  strangers,
];

function commitBytes(random: Random, files: TableFiles): Damage | undefined {
  const path = pick(random, files.commits);
  if (path === undefined) return undefined;
  return { text: `${path} ${garbled(random, files, path)}`, verdict: 'anything' };
}

function missingCommit(random: Random, files: TableFiles): Damage | undefined {
  const path = pick(random, files.commits);
  if (path === undefined) return undefined;
  rmSync(join(files.directory, path));
  const version = versionOf(path);
  if (version === files.lastCommit) return { text: `without ${path}, the last`, verdict: 'anything' };
  const needed = version > files.checkpointVersion;
  return { text: `without ${path}`, verdict: needed ? 'refused' : 'same-or-refused' };
}

function checkpointBytes(random: Random, files: TableFiles): Damage | undefined {
  const path = pick(random, [...files.checkpoints, ...files.sidecars]);
  if (path === undefined) return undefined;
  return { text: `${path} ${garbled(random, files, path)}`, verdict: 'anything' };
}

function missingCheckpoint(random: Random, files: TableFiles): Damage | undefined {
  const path = pick(random, [...files.checkpoints, ...files.sidecars]);
  if (path === undefined) return undefined;
  const bytes = readBytes(files, path);
  const verdict = files.firstCommit === 0 ? 'same' : 'same-or-refused';
  if (random.next() < 0.5 || !path.endsWith('.parquet')) {
    rmSync(join(files.directory, path));
    return { text: `without ${path}`, verdict };
  }
  const length = randomInt(random, bytes.length);
  writeBytes(files, path, bytes.subarray(0, length));
  return { text: `${path} cut to ${length} bytes`, verdict };
}

const hints = [
  '',
  '{}',
  'null',
  '[]',
  '{"version":-1}',
  '{"version":1e308}',
  '{"version":99999999999999999999}',
  '{"version":"1"}',
  '{"version":9007199254740991,"size":1}',
  '{"version":1,"size":1,"parts":-3}',
  '{"version":0,"parts":1e9}',
  `{"version":1,"checkpointSchema":${'['.repeat(50_000)}`,
] as const;

/** The hint never decides. */
function hint(random: Random, files: TableFiles): Damage | undefined {
  const path = '_delta_log/_last_checkpoint';
  if (!files.hasHint || random.next() < 0.6) {
    const text = pick(random, hints) ?? '';
    writeBytes(files, path, text);
    return { text: `hint ${text.slice(0, 60)}`, verdict: 'same' };
  }
  return { text: `hint ${garbled(random, files, path)}`, verdict: 'same' };
}

function checksum(random: Random, files: TableFiles): Damage | undefined {
  const path = pick(random, files.checksums);
  if (path === undefined) return undefined;
  return { text: `${path} ${garbled(random, files, path)}`, verdict: 'same' };
}

/** Their bytes have a checksum of their own. */
function vector(random: Random, files: TableFiles): Damage | undefined {
  const path = pick(random, files.vectors);
  if (path === undefined) return undefined;
  if (random.next() < 0.2) {
    rmSync(join(files.directory, path));
    return { text: `without ${path}`, verdict: 'same-or-refused' };
  }
  return { text: `${path} ${garbled(random, files, path)}`, verdict: 'same-or-refused' };
}

function dataFile(random: Random, files: TableFiles): Damage | undefined {
  const path = pick(random, files.data);
  if (path === undefined) return undefined;
  const bytes = readBytes(files, path);
  const replaced = (text: string, content: Uint8Array | string, verdict: Verdict): Damage => {
    writeBytes(files, path, content);
    return { text: `${path} ${text}`, verdict };
  };
  switch (randomInt(random, 6)) {
    case 0:
      rmSync(join(files.directory, path));
      return { text: `without ${path}`, verdict: 'same-or-refused' };
    case 1:
      return replaced('emptied', '', 'same-or-refused');
    case 2:
      return replaced('is text', 'PAR1 but not really PAR1', 'same-or-refused');
    case 3:
      return replaced(
        'has a row of zeros in it',
        Buffer.concat([bytes.subarray(0, bytes.length >> 1), Buffer.alloc(64), bytes.subarray((bytes.length >> 1) + 64)]),
        'anything',
      );
    case 4: {
      const length = randomInt(random, bytes.length);
      return replaced(`cut to ${length} bytes`, bytes.subarray(0, length), 'same-or-refused');
    }
    default:
      return { text: `${path} ${garbled(random, files, path)}`, verdict: 'anything' };
  }
}

/** The end of a Parquet file of the data or of the log: its metadata, and the length of it. */
function footer(random: Random, files: TableFiles): Damage | undefined {
  const parquet = [...files.checkpoints, ...files.sidecars, ...files.data].filter((path) => path.endsWith('.parquet'));
  const path = pick(random, parquet);
  if (path === undefined) return undefined;
  const bytes = Buffer.from(readBytes(files, path));
  if (random.next() < 0.2) {
    const length = pick(random, [0, 1, 0x7fffffff, 0xffffffff, bytes.length, bytes.length - 8, bytes.length - 7]) ?? 0;
    bytes.writeUInt32LE(length, bytes.length - 8);
    writeBytes(files, path, bytes);
    return { text: `${path} has a footer of ${length} bytes`, verdict: 'anything' };
  }
  const from = Math.max(4, bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8));
  const flips = Array.from({ length: 1 + randomInt(random, 4) }, () => from + randomInt(random, bytes.length - 8 - from));
  for (const at of flips) bytes[at] = randomInt(random, 256);
  writeBytes(files, path, bytes);
  return { text: `${path} with other bytes in its footer at ${flips.join()}`, verdict: 'anything' };
}

const strangeNames = [
  '99999999999999999999.json',
  '00000000000000000001.json.tmp',
  '.00000000000000000001.json.crc',
  '00000000000000000009.checkpoint.0000000001.9999999999.parquet',
  '00000000000000000001.checkpoint.parquet.tmp',
  '00000000000000000000.00000000000000000001.compacted.json',
  '00000000000000000077.crc',
  '0000000000000000001.json',
  '-0000000000000000001.json',
  '_staged_commits/00000000000000000001.0aa.json',
  '00000000000000000001.checkpoint.nonsense.json',
  'x',
] as const;

/** Files that are no part of the log, by their names or because they are not whole. */
function strangers(random: Random, files: TableFiles): Damage | undefined {
  const name = pick(random, strangeNames) ?? 'x';
  mkdirSync(join(files.directory, '_delta_log', '_staged_commits'), { recursive: true });
  writeBytes(files, `_delta_log/${name}`, pick(random, ['', 'nonsense', '{"add":{"path":"x"}}']) ?? '');
  return { text: `with ${name}`, verdict: /^\d{20}\.(json|0)/.test(name) ? 'same-or-refused' : 'same' };
}

/** Flips, cuts, doubles, inserts: at least one byte is another one. */
export function garbled(random: Random, files: TableFiles, path: string): string {
  const bytes = Buffer.from(readBytes(files, path));
  if (bytes.length === 0) {
    writeBytes(files, path, '\0');
    return 'is a NUL';
  }
  const at = randomInt(random, bytes.length);
  switch (randomInt(random, 5)) {
    case 0:
      writeBytes(files, path, bytes.subarray(0, at));
      return `cut to ${at} bytes`;
    case 1: {
      const end = Math.min(bytes.length, at + 1 + randomInt(random, 64));
      writeBytes(files, path, Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)]));
      return `doubled from ${at} to ${end}`;
    }
    case 2: {
      const end = Math.min(bytes.length, at + 1 + randomInt(random, 16));
      writeBytes(files, path, Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]));
      return `without ${at} to ${end}`;
    }
    default: {
      const flips = Array.from({ length: 1 + randomInt(random, 3) }, () => randomInt(random, bytes.length));
      for (const flip of flips) bytes[flip] = (bytes[flip] ?? 0) ^ (1 << randomInt(random, 8));
      writeBytes(files, path, bytes);
      return `flipped at ${flips.join()}`;
    }
  }
}
