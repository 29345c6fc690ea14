import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReadTableRequest } from '../../src/app/app-commands.ts';
import { readTable } from '../../src/app/commands/read-command.ts';
import { changes, openTable, rows } from '../../src/app/library.ts';
import type { JsonObject } from '../../src/base/bigint-json.ts';
import { sortedLines } from '../../src/codec/canonical-json.ts';
import { canonicalText, GoldenTables, listOf, objectsOf } from '../support/golden-tables.ts';

describe('reading tables by path', () => {
  let golden: GoldenTables;

  beforeAll(async () => {
    golden = await GoldenTables.unpack('fixtures-delta');
  });

  afterAll(async () => {
    await golden.close();
  });

  const locationOf = (name: string): string => join(golden.directory, 'delta', name, 'table');

  async function lines(name: string, request: Partial<ReadTableRequest> & Pick<ReadTableRequest, 'what'>): Promise<readonly string[]> {
    const read: string[] = [];
    const location = locationOf(name);
    await readTable({ name: location, location, canonical: true, ...request }, (line) => {
      read.push(line);
      return Promise.resolve();
    });
    return read;
  }

  const expectedRows = (name: string, version: number): readonly string[] => {
    const states = golden.expectation(`delta/${name}`)['rows'] as JsonObject;
    return sortedLines(listOf(states[String(version)]).map(canonicalText));
  };

  it.each(['primitives', 'nested', 'partition-escaping', 'column-mapping-name', 'type-widening', 'deletion-vectors', 'rs-basic'])(
    'prints the canonical lines of %s that other engines print',
    async (name) => {
      const { latestVersion } = golden.expectation(`delta/${name}`);
      expect(await lines(name, { what: 'rows' })).toEqual(expectedRows(name, Number(latestVersion)));
      expect(await lines(name, { what: 'rows', version: 1 })).toEqual(expectedRows(name, 1));
    },
  );

  it('filters, limits and keeps the order of columns', async () => {
    const some = await lines('cdf-sequence', { what: 'rows', filter: "id >= 9 AND grp <> 'x'", canonical: false });
    expect([...some].sort()).toEqual(['{"id":10,"grp":"a","val":10}', '{"id":9,"grp":"e","val":9}']);
    expect(await lines('cdf-sequence', { what: 'rows', limit: 1 })).toHaveLength(1);
    await expect(lines('cdf-sequence', { what: 'rows', filter: 'nope = 1' })).rejects.toMatchObject({
      errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION',
    });
  });

  it('prints changes with what happened, the version and its time', async () => {
    const [range] = objectsOf(golden.expectation('delta/in-commit-timestamps')['changes']);
    const expected = sortedLines(listOf(range?.['rows']).map(canonicalText));
    expect(await lines('in-commit-timestamps', { what: 'changes' })).toEqual(expected);
    expect(await lines('in-commit-timestamps', { what: 'changes', from: 1, filter: "_change_type = 'delete'" })).toHaveLength(1);
    expect(await lines('cdf-sequence', { what: 'changes', from: 2, to: 3, limit: 3 })).toHaveLength(3);
  });

  it('travels to a time, by the times of the commits themselves where they hold them', async () => {
    const at = (timestamp: string) => lines('in-commit-timestamps', { what: 'rows', timestamp });
    expect(await at('2026-11-21T10:05:44.325Z')).toEqual(expectedRows('in-commit-timestamps', 1));
    expect(await at('2026-11-21 12:05:48.126+02:00')).toEqual(expectedRows('in-commit-timestamps', 2));
    await expect(at('2100-01-01')).rejects.toMatchObject({
      errorClass: 'DELTA_TIMESTAMP_GREATER_THAN_COMMIT',
      sqlState: '42816',
      message:
        "Timestamp 2100-01-01 00:00:00.0 is after the table's latest version (2026-11-21 10:05:48.127). Use a timestamp at or before 2026-11-21 10:05:48.",
    });
    await expect(at('2001-01-01')).rejects.toThrow(
      /^The provided timestamp \(2001-01-01 00:00:00\.0\) is before the earliest version available to this table \(2026-11-21 10:05:4\d\.\d+\)\. Please use a timestamp after 2026-11-21 10:05:4\d\.$/,
    );
    await expect(at('yesterday-ish')).rejects.toMatchObject({ errorClass: 'DELTA_TIMESTAMP_INVALID' });
    await expect(lines('in-commit-timestamps', { what: 'rows', version: 1, timestamp: '2026-11-21' })).rejects.toMatchObject({
      errorClass: 'DELTA_ONEOF_IN_TIMETRAVEL',
    });
    await expect(lines('in-commit-timestamps', { what: 'rows', version: 99 })).rejects.toThrow(
      'Cannot time travel Delta table to version 99. Available versions: [0, 3].',
    );
  });

  it('prints columns and history', async () => {
    expect(await lines('nested', { what: 'schema' })).toContain(
      '{"name":"st","nullable":true,"partition":false,"pos":1,"type":"struct<a:int,b:struct<c:string,d:array<int>,e:boolean>>"}',
    );
    const history = await lines('duckdb-append', { what: 'history' });
    expect(history).toHaveLength(3);
    expect(history[1]).toContain('"engineInfo":"DuckDB"');
  });

  it('names a place without a table', async () => {
    await expect(lines('nothing', { what: 'rows' })).rejects.toMatchObject({ code: 'TABLE_NOT_FOUND', kind: 'not-found' });
  });

  it('gives the library exact numbers as bigint', async () => {
    const table = await openTable(locationOf('primitives'));
    const read: JsonObject[] = [];
    for await (const row of rows(table)) read.push(row);
    const { latestVersion } = golden.expectation('delta/primitives');
    expect(read).toHaveLength(expectedRows('primitives', Number(latestVersion)).length);
    expect(read.map((row) => row['i64'])).toContain(9223372036854775807n);
    const feed = await openTable(locationOf('rs-cdf'));
    const types = new Set<unknown>();
    for await (const row of changes(feed, { fromVersion: 0, toVersion: 3 })) types.add(row['_change_type']);
    expect([...types].sort()).toEqual(['delete', 'insert', 'update_postimage', 'update_preimage']);
  });
});
