import { describe, expect, it } from 'vitest';
import type { TableFormat } from '../../src/table/formats.ts';
import { IngestedTable } from '../support/ingested-table.ts';
import { withTemporaryDirectory } from '../support/servers.ts';

/** How often an offset may be in a table that was read into more than once, by decision or by pipelines of two names. */

interface Reading {
  readonly what: string;
  readonly then: (table: IngestedTable) => Promise<void>;
  /** Exit codes of `audit` and `audit --rows`. */
  readonly codes: readonly [log: number, rows: number];
  readonly says: RegExp;
}

const readings: readonly Reading[] = [
  {
    what: 'a pipeline of another name read the same topic again: each offset is there twice',
    then: async (t) => {
      t.pipeline = 'renamed';
      await t.commit(0, 0, 15);
      await t.commit(0, 15, 25);
    },
    codes: [0, 4],
    says: /orders:0: 25 rows have the offset of another row, the first of them 0/,
  },
  {
    what: 'a pipeline of another name read it again after its own topic was made anew: once for each topic',
    then: async (t) => {
      t.pipeline = 'renamed';
      t.topicId = 'another';
      await t.commit(0, 0, 25);
    },
    codes: [0, 0],
    says: /each offset once: 60 rows/,
  },
  {
    what: 'a pipeline of another name went on where the one before it ended',
    then: async (t) => {
      t.pipeline = 'renamed';
      await t.commit(0, 25, 30, 'nothing');
    },
    codes: [0, 0],
    says: /orders:0 is read by the pipeline "renamed" from 25 on, and the pipeline "p" has read \[0, 25\) of the same topic/,
  },
  {
    what: 'a row is doubled beside others that were read again by decision',
    then: async (t) => {
      await t.commit(0, 5, 30, 25);
      await t.sql('INSERT INTO $orders SELECT * FROM $orders WHERE _partition = 0 AND _offset = 2');
    },
    codes: [0, 4],
    says: /orders:0: 1 rows have the offset of another row, the first of them 2/,
  },
];

const formats: readonly TableFormat[] = ['delta', 'iceberg'];

describe('the audit of rows by their source offsets', () => {
  it.each(formats.flatMap((format) => readings.map((reading) => ({ format, ...reading }))))(
    'X04: is right of a table in $format when $what',
    async ({ format, then, codes, says }) => {
      await withTemporaryDirectory(async (directory) => {
        const table = new IngestedTable(format, directory);
        try {
          await table.commit(0, 0, 10);
          await table.commit(1, 0, 10);
          await table.commit(0, 10, 25);
          await then(table);
        } finally {
          await table.close();
        }
        const [log, rows] = [await table.cli('audit', 'orders'), await table.cli('audit', 'orders', '--rows')];
        expect([log.code, rows.code]).toEqual(codes);
        expect(rows.out).toMatch(says);
      });
    },
  );
});
