import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { type Damage, damage, pick } from '../support/fuzz/damage.ts';
import { type Answers, questions } from '../support/fuzz/questions.ts';
import { ReaderProcess, type Reading } from '../support/fuzz/reader-process.ts';
import { copyOf, filesOf, type TableFiles } from '../support/fuzz/table-files.ts';
import { propertySeed, triesOf } from '../support/property/property-runs.ts';
import { unpackTar } from '../support/unpack-tar.ts';

// Story: a log is bytes that anybody may have written and any disk may have lost. Whatever they are, a reader gives the right rows or an
// error with a name; it does not crash, hang, take all memory or open a file that the table does not own.

const cases = triesOf(120);
const mostResidentBytes = 1.5 * 2 ** 30;
/** Small tables of other engines: between them they have every kind of file. */
const bases = [
  'basic-ops',
  'cdf-sequence',
  'checkpoint-classic',
  'checkpoint-v2-json',
  'column-mapping-name',
  'deletion-vectors',
  'in-commit-timestamps',
  'log-cleaned',
  'nested',
  'partition-escaping',
  'row-tracking',
  'type-widening',
] as const;

interface Base {
  readonly name: string;
  readonly files: TableFiles;
  readonly sound: Answers;
}

let directory: string;
let made: readonly Base[];
const reader = new ReaderProcess();

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tidewater-fuzz-'));
  unpackTar(new URL('./packs/fixtures-delta.tar.gz', import.meta.url), directory);
  const tables: Base[] = [];
  for (const name of bases) {
    const files = filesOf(join(directory, 'delta', name, 'table'));
    const reading = await reader.read(files.directory);
    if (reading.kind !== 'answered') throw new Error(`the sound table ${name} ${reading.kind}`);
    tables.push({ name, files, sound: reading.answers });
  }
  made = tables;
}, 300_000);

afterAll(() => {
  reader.close();
  rmSync(directory, { recursive: true, force: true });
});

/** One case; gives what is wrong with it. */
async function faultsOf(seed: number): Promise<readonly string[]> {
  const random = new SeededRandom(seed);
  const base = pick(random, made);
  if (base === undefined) return [];
  const room = join(directory, `case-${seed}`);
  const outside = join(room, 'outside', 'secret.parquet');
  mkdirSync(join(room, 'outside'), { recursive: true });
  copyFileSync(join(base.files.directory, base.files.data[0] ?? ''), outside);
  // Read since it was written: the times of access and of change say so where the file system keeps them.
  utimesSync(outside, 1, 2);
  const done = await damage(random, copyOf(base.files, join(room, 'table')));
  if (done === undefined) {
    rmSync(room, { recursive: true });
    return [];
  }
  const reading = await reader.read(join(room, 'table'));
  const wasRead = statSync(outside).atimeMs > 2000;
  rmSync(room, { recursive: true });
  const faults = [...(wasRead ? ['read a file outside of the table'] : []), ...faultsOfReading(reading, done, base.sound)];
  return faults.map((fault) => `SEED=${seed} ${base.name}: ${done.text} (${done.verdict}): ${fault}`);
}

function faultsOfReading(reading: Reading, { verdict }: Damage, sound: Answers): readonly string[] {
  if (reading.kind === 'hung') return ['hung'];
  if (reading.kind === 'crashed') return [`crashed with ${reading.how}`];
  const { answers, residentBytes } = reading;
  const faults = questions.flatMap((question) => {
    const answer = answers[question];
    return answer.kind === 'error' && !answer.typed ? [`${question}: untyped ${answer.text}`] : [];
  });
  if (residentBytes > mostResidentBytes) faults.push(`took ${residentBytes} bytes of memory`);
  const { rows } = answers;
  const isSame = rows.kind === 'lines' && sound.rows.kind === 'lines' && rows.lines.join('\n') === sound.rows.lines.join('\n');
  const found = rows.kind === 'error' ? rows.text : isSame ? 'the same rows' : `${rows.lines.length} other rows`;
  const isRight = {
    same: isSame,
    refused: rows.kind === 'error',
    'same-or-refused': isSame || rows.kind === 'error',
    anything: true,
  }[verdict];
  if (!isRight) faults.push(`gives ${found}`);
  return faults;
}

describe(`damaged tables (SEED=${propertySeed})`, () => {
  it('are sound before they are damaged', () => {
    for (const { sound, name } of made) expect(sound.rows.kind, name).toBe('lines');
  });

  it('stand beside a file whose reading would be noticed', (context) => {
    const file = join(directory, 'noticed');
    writeFileSync(file, 'x');
    utimesSync(file, 1, 2);
    expect(readFileSync(file, 'utf8')).toBe('x');
    // Some file systems keep no times of access.
    context.skip(statSync(file).atimeMs === 1000);
    expect(statSync(file).atimeMs).toBeGreaterThan(2000);
  });

  it('give the right rows or an error with a name, whatever is done to their files', { timeout: 3_600_000 }, async () => {
    const faults: string[] = [];
    for (let index = 0; index < cases; index += 1) faults.push(...(await faultsOf((propertySeed + index) % 2 ** 31)));
    expect(faults).toEqual([]);
  });
});
