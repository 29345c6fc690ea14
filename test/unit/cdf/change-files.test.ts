import { afterAll, describe, expect, it } from 'vitest';
import { type Random, randomInt } from '../../../src/base/random.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { ChangeFileReader } from '../../../src/cdf/change-file-reader.ts';
import { jsonRows } from '../../../src/cdf/encoding/json-rows.ts';
import { RecordBuffer } from '../../../src/cdf/encoding/record-buffer.ts';
import { RowWriters } from '../../../src/cdf/row-writers.ts';
import type { Phase } from '../../../src/cdf/version-segments.ts';
import type { ChangeFile, VersionChanges } from '../../../src/table/changes.ts';
import { openTestEngine, type TestEngine } from '../../support/test-engine.ts';
import { ChangeTable, type FileRows } from './change-table.ts';

const shared: TestEngine = await openTestEngine();
afterAll(() => shared.close());

interface Seen {
  readonly changes: VersionChanges;
  readonly file: ChangeFile;
  readonly keyColumns: readonly string[];
}

const reader = (table: ChangeTable, maxHeldBytes: number): ChangeFileReader =>
  new ChangeFileReader({ openStore: table.openStore, openEngine: () => Promise.resolve(shared.engine), maxHeldBytes });

/** The rows of a phase from a position on: `<code>{"id":…}`, a pair in brackets. */
async function rowsFrom(
  files: ChangeFileReader,
  { changes, file, keyColumns }: Seen,
  phase: Phase,
  from: number,
): Promise<readonly string[]> {
  const opened = await files.open({ location: 'memory://orders', changes, file, keyColumns });
  const text = new RecordBuffer();
  const lines: string[] = [];
  for (let position = from; position < opened.counts[phase]; ) {
    const piece = await opened.pieceAt(phase, position);
    position += piece.order.length;
    for (const [place, row] of piece.order.entries()) {
      text.clear();
      new RowWriters(piece.rows, jsonRows([])).members(text, row);
      lines.push(`${piece.pairStarts[place] === 1 ? '[' : ''}${piece.codes[row]}${text.text()}`);
    }
  }
  return lines;
}

async function sameRows(table: ChangeTable, seen: Seen, from: number): Promise<void> {
  const [held, scanned] = [reader(table, 1e9), reader(table, 0)];
  for (const phase of ['removals', 'additions'] as const) {
    expect(await rowsFrom(scanned, seen, phase, from)).toEqual(await rowsFrom(held, seen, phase, from));
  }
  for (const files of [held, scanned]) await files.close([{ location: 'memory://orders', ...seen }]);
}

const words = ['insert', 'delete', 'update_preimage', 'update_postimage'];

function recordedFile(random: Random, rowCount: number, keys: number): FileRows {
  const rows = Array.from({ length: rowCount }, (_, index) => ({
    id: randomInt(random, keys),
    name: randomInt(random, 5) === 0 ? null : `row ${index}`,
    _change_type: words[randomInt(random, 4)] ?? '',
  }));
  return { kind: 'recorded', rows };
}

/** Pairs only, as engines write updates. */
function updates(count: number): FileRows {
  const images = ['update_preimage', 'update_postimage'];
  const rows = Array.from({ length: count }, (_, id) => images.map((image) => ({ id, name: image, _change_type: image })));
  return { kind: 'recorded', rows: rows.flat() };
}

describe('a change file has the same rows in the same order, held in memory or read by the engine:', () => {
  it.each(Array.from({ length: 12 }, (_, index) => 500 + index))('recorded rows of any kind (seed %i)', async (seed) => {
    const random = new SeededRandom(seed);
    const table = new ChangeTable();
    const changes = await table.commit([recordedFile(random, 1 + randomInt(random, 300), 1 + randomInt(random, 40))]);
    for (const file of changes.files) {
      for (const keyColumns of [[], ['id'], ['name', 'id']]) await sameRows(table, { changes, file, keyColumns }, 0);
    }
  });

  it('updates that are more than a piece, where a piece ends within a pair or not', async () => {
    const table = new ChangeTable();
    for (const first of [[], [{ id: -1, name: 'first', _change_type: 'insert' }]]) {
      const file = updates(3_000);
      const changes = await table.commit([{ ...file, rows: [...first, ...file.rows] }]);
      for (const stored of changes.files) {
        for (const keyColumns of [[], ['id']]) await sameRows(table, { changes, file: stored, keyColumns }, first.length);
      }
    }
  });

  it('inserts and deletes of which some do not count, begun anywhere', async () => {
    const table = new ChangeTable();
    const rows = Array.from({ length: 5_000 }, (_, id) => ({ id, name: `row ${id}` }));
    const { files, ...version } = await table.commit([
      { kind: 'insert', rows, counted: false },
      { kind: 'delete', rows, counted: false },
    ]);
    const everyThird = BigInt64Array.from(rows.filter(({ id }) => id % 3 === 0).map(({ id }) => BigInt(id)));
    for (const file of files) {
      for (const some of [{}, { deletedRows: everyThird }, { onlyRows: everyThird }]) {
        const chosen = { ...file, ...some };
        for (const from of [0, 1, 1_500])
          await sameRows(table, { changes: { ...version, files: [chosen] }, file: chosen, keyColumns: [] }, from);
      }
    }
  });

  it('inserts of several slices, asked for out of their order', async () => {
    const table = new ChangeTable();
    const rows = Array.from({ length: 140_000 }, (_, id) => ({ id, name: null }));
    const { files, ...version } = await table.commit([{ kind: 'insert', rows, counted: false }]);
    // Of the second slice none is left.
    const gone = rows.filter(({ id }) => id % 1_000 === 0 || (id >= 65_536 && id < 131_072));
    const deletedRows = BigInt64Array.from(gone, ({ id }) => BigInt(id));
    const left = rows.length - gone.length;
    const ids = rows.map(({ id }) => id).filter((id) => id % 1_000 !== 0 && (id < 65_536 || id >= 131_072));
    for (const file of files.map((each) => ({ ...each, deletedRows }))) {
      const request = { location: 'memory://orders', changes: { ...version, files: [file] }, file, keyColumns: [] };
      const opened = await reader(table, 1e9).open(request);
      expect(opened.counts).toEqual({ removals: 0, additions: left });
      for (const position of [0, 60_000, left - 1, 65_469, 65_470, 3, 65_471]) {
        const piece = await opened.pieceAt('additions', position);
        const text = new RecordBuffer();
        new RowWriters(piece.rows, jsonRows([])).members(text, piece.order[0] ?? -1);
        expect(text.text()).toBe(`{"id":${ids[position]},"name":null`);
      }
    }
  });

  it('marks behind the last row of a file are told as damage', async () => {
    const table = new ChangeTable();
    const rows = Array.from({ length: 300 }, (_, id) => ({ id, name: null }));
    const { files, ...version } = await table.commit([{ kind: 'insert', rows, counted: false }]);
    for (const file of files.map((each) => ({ ...each, onlyRows: BigInt64Array.of(1n, 70_000n) }))) {
      const opened = await reader(table, 1e9).open({
        location: 'memory://orders',
        changes: { ...version, files: [file] },
        file,
        keyColumns: [],
      });
      await expect(opened.pieceAt('additions', 1)).rejects.toMatchObject({ code: 'CDF_FILE_CORRUPT', kind: 'corrupt' });
    }
  });

  it('asked for a position behind what was read, begins again', async () => {
    const table = new ChangeTable();
    const changes = await table.commit([updates(2_500)]);
    const scanned = reader(table, 0);
    for (const file of changes.files) {
      const seen = { changes, file, keyColumns: ['id'] };
      const all = await rowsFrom(scanned, seen, 'additions', 0);
      expect(all.length).toBe(5_000);
      expect(await rowsFrom(scanned, seen, 'additions', 4_800)).toEqual(all.slice(4_800));
      expect(await rowsFrom(scanned, seen, 'additions', 10)).toEqual(all.slice(10));
      await scanned.close([{ location: 'memory://orders', ...seen }]);
    }
  });
});
