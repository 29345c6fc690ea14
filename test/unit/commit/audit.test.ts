import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../src/base/clock.ts';
import { auditHistory } from '../../../src/commit/audit.ts';
import { type CommitAccounting, printAccounting } from '../../../src/protocol/commit-accounting.ts';
import type { HistoryEntry } from '../../../src/table/table.ts';
import { toVersion } from '../../../src/table/version.ts';

const mark = (partition: number): string => `p:orders:${partition}:c:t`;

function entry(version: number, accounting: Partial<CommitAccounting> | undefined, rest: Partial<HistoryEntry> = {}): HistoryEntry {
  const full = { pipeline: 'p', ranges: [], records: 0, rows: 0, deadLettered: 0, filtered: 0, ...accounting };
  return {
    version: toVersion(version),
    committedAt: toEpochMs(version),
    operation: 'STREAMING UPDATE',
    operationParameters: {},
    operationMetrics: {},
    userMetadata: accounting === undefined ? undefined : printAccounting(full),
    engineInfo: undefined,
    progress: new Map(full.ranges.map((range) => [mark(range.partition), range.until])),
    addedFiles: 1,
    removedFiles: 0,
    addedRows: full.rows,
    dataChange: true,
    ...rest,
  };
}

const range = (partition: number, from: bigint, until: bigint): CommitAccounting['ranges'][number] => ({
  topic: 'orders',
  partition,
  from,
  until,
});
const rulesOf = (history: readonly HistoryEntry[]): readonly string[] =>
  auditHistory(history).findings.map(({ level, version, rule }) => `${level} ${rule} at ${version}`);

const sound = [
  entry(0, undefined, { addedRows: 0, dataChange: false }),
  entry(1, { ranges: [range(0, 0n, 10n), range(1, 5n, 7n)], records: 11, rows: 9, deadLettered: 1, filtered: 1 }),
  entry(2, undefined, { addedRows: 9, dataChange: false }),
  entry(3, { ranges: [range(0, 10n, 12n)], records: 2, rows: 2 }),
];

describe('the audit of a ledger', () => {
  it('adds up a sound history and finds nothing', () => {
    const report = auditHistory(sound);
    expect(report).toMatchObject({ versions: 4, commits: 2, records: 13, rows: 11, deadLettered: 1, filtered: 1, findings: [] });
    expect([...report.offsets]).toEqual([
      ['orders:0', 12n],
      ['orders:1', 7n],
    ]);
  });

  it('finds records that are in no commit, and those that are in two', () => {
    expect(rulesOf([...sound, entry(4, { ranges: [range(0, 13n, 14n)], records: 1, rows: 1 })])).toEqual(['error gap at 4']);
    expect(rulesOf([...sound, entry(4, { ranges: [range(0, 11n, 14n)], records: 3, rows: 3 })])).toEqual(['error overlap at 4']);
  });

  it('does not compare offsets of a topic that was deleted and created again', () => {
    const again = entry(4, { ranges: [range(0, 0n, 3n)], records: 3, rows: 3 }, { progress: new Map([['p:orders:0:c:another', 3n]]) });
    const report = auditHistory([...sound, again]);
    expect(report.findings.map(({ level, rule }) => `${level} ${rule}`)).toEqual(['note incarnation']);
    expect(report.offsets.get('orders:0')).toBe(3n);
  });

  it('says what a pipeline of another name reads of the same topic', () => {
    const more = { pipeline: 'renamed', ranges: [range(0, 0n, 3n)], records: 3, rows: 3 };
    const [same, other] = ['renamed:orders:0:c:t', 'renamed:orders:0:c:another'].map((writer) =>
      auditHistory([...sound, entry(4, more, { progress: new Map([[writer, 3n]]) })]).findings.map(
        ({ level, text }) => `${level}: ${text}`,
      ),
    );
    expect(same).toEqual([
      'note: orders:0 is read by the pipeline "renamed" from 0 on, and the pipeline "p" has read [0, 12) of the same topic',
    ]);
    expect(other).toEqual([]);
  });

  it('goes on from the range that broke the line, so that one fault is one finding', () => {
    const broken = [...sound, entry(4, { ranges: [range(0, 13n, 14n)] }), entry(5, { ranges: [range(0, 14n, 15n)] })];
    expect(rulesOf(broken)).toEqual(['error gap at 4']);
  });

  it('finds records that became neither row nor dead letter nor filtered', () => {
    expect(rulesOf([entry(1, { ranges: [range(0, 0n, 3n)], records: 3, rows: 2 })])).toEqual(['error balance at 1']);
  });

  it('finds files that hold other rows than the commit claims, unless they do not say', () => {
    const accounting = { ranges: [range(0, 0n, 3n)], records: 3, rows: 3 };
    expect(rulesOf([entry(1, accounting, { addedRows: 2 })])).toEqual(['error row-count at 1']);
    expect(rulesOf([entry(1, accounting, { addedRows: undefined })])).toEqual([]);
  });

  it('finds a mark that is not the end of its range', () => {
    const accounting = { ranges: [range(0, 0n, 3n)], records: 3, rows: 3 };
    expect(rulesOf([entry(1, accounting, { progress: new Map([[mark(0), 2n]]) })])).toEqual(['error mark at 1']);
    expect(rulesOf([entry(1, accounting, { progress: new Map() })])).toEqual(['error mark at 1']);
  });

  it('warns of marks that were moved without accounting, and follows them from there', () => {
    expect(rulesOf([entry(1, undefined, { progress: new Map([[mark(0), 2n]]) })])).toEqual(['warning unaccounted at 1']);
    const rewound = entry(4, undefined, { progress: new Map([[mark(0), 2n]]) });
    const again = entry(5, { ranges: [range(0, 2n, 5n)], records: 3, rows: 3 });
    expect(rulesOf([...sound, rewound, again])).toEqual(['warning unaccounted at 4']);
    expect(rulesOf([entry(1, undefined, { progress: new Map([['a-query-of-spark', 2n]]) })])).toEqual([]);
  });

  it('audits the ledger of every pipeline by itself', () => {
    const other = { pipeline: 'q', ranges: [range(0, 3n, 5n)], records: 7, rows: 2 };
    const progress = new Map([['q:orders:0:c:t', 5n]]);
    expect(rulesOf([...sound, entry(4, other, { progress })])).toEqual(['error balance at 4', 'note second-pipeline at 4']);
  });

  it('names offsets that an operator passed over or reads again, and finds them where nobody decided it', () => {
    const onwards = (from: bigint, after?: bigint): HistoryEntry =>
      entry(4, { ranges: [{ ...range(0, from, 40n), after }], records: 3, rows: 3 }, { progress: new Map([[mark(0), 40n]]) });
    const passed = auditHistory([...sound, onwards(30n, 12n)]).findings;
    expect(passed).toMatchObject([
      { level: 'note', rule: 'decision', text: expect.stringContaining('18 offsets were passed over') as string },
    ]);
    const again = auditHistory([...sound, onwards(0n, 12n)]).findings;
    expect(again).toMatchObject([
      { level: 'note', rule: 'decision', text: expect.stringContaining('12 offsets are read again') as string },
    ]);
    expect(rulesOf([...sound, onwards(30n)])).toEqual(['error gap at 4']);
    expect(rulesOf([...sound, onwards(30n, 11n)])).toEqual(['error gap at 4']);
  });

  it('names versions of others that changed rows, with what they changed, and passes over maintenance', () => {
    const gone = entry(4, undefined, { operation: 'DELETE', engineInfo: 'Apache-Spark/4.0.0', netRows: -3, removedFiles: 1 });
    const { foreign, foreignCount } = auditHistory([...sound, gone]);
    expect([foreign, foreignCount]).toEqual([
      [{ version: 4, committedAt: 4, operation: 'DELETE', engine: 'Apache-Spark/4.0.0', netRows: -3, addedFiles: 1, removedFiles: 1 }],
      1,
    ]);
  });
});
