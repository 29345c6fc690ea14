import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../src/base/bigint-json.ts';
import type { DataFrame } from '../../src/index.ts';
import { sortedLines } from '../engines/oracle.ts';
import { canonicalRow } from '../engines/support/canonical-rows.ts';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { unpackTar } from '../support/unpack-tar.ts';

/** Tables that other programs wrote, read by path, with the rows that other engines read. */
describe('Iceberg tables of other programs', () => {
  const bench = icebergBench();

  beforeAll(() => {
    unpackTar(new URL('../golden/packs/fixtures-iceberg.tar.gz', import.meta.url), bench().directory);
  });

  const expectationOf = (name: string): JsonObject => {
    const path = join(bench().directory, 'iceberg', name, 'expect.json');
    const value = parseJson(readFileSync(path, 'utf8'), path);
    return isJsonObject(value) ? value : {};
  };

  /** A table that was written at another place, newest or at a snapshot. */
  function tableOf(name: string, snapshot: string | undefined): DataFrame {
    const { recordedLocation } = expectationOf(name);
    const to = join(bench().directory, 'iceberg', name, 'table');
    const reader = bench()
      .session.read.format('iceberg')
      .option('path-map', `${typeof recordedLocation === 'string' ? recordedLocation : ''}=${to}`);
    return (snapshot === undefined ? reader : reader.option('snapshot-id', snapshot)).load(to);
  }

  /** Compares every state of which the expectation has the rows, `current` and `snapshot:<id>`. */
  async function expectItsRows(name: string): Promise<void> {
    const { rows } = expectationOf(name);
    const states = Object.entries(isJsonObject(rows) ? rows : {}).flatMap(([state, value]) =>
      Array.isArray(value) ? [[state, value] as const] : [],
    );
    expect(states.length).toBeGreaterThan(0);
    for (const [state, expected] of states) {
      const [kind, id] = state.split(':');
      if (kind !== 'current' && kind !== 'snapshot') continue;
      const ours = (await tableOf(name, id).collect()).map(canonicalRow);
      const theirs = expected.map((row) => JSON.parse(textOf(row)) as Readonly<Record<string, unknown>>);
      expect([state, ...sortedLines(ours)]).toEqual([state, ...sortedLines(theirs)]);
    }
  }

  it.each(['java-types', 'py-types', 'primitives', 'nested'])('A22: uuid, fixed, time and all other types: %s', async (name) => {
    await expectItsRows(name);
  });

  it.each(['avro-data', 'orc-data', 'codecs', 'gz-metadata'])('A19: files of Spark in every format and codec: %s', async (name) => {
    await expectItsRows(name);
  });

  it.each([
    'v1-table',
    'position-deletes',
    'equality-deletes',
    'v3-deletion-vectors',
    'name-mapping',
    'partition-transforms',
    'spec-evolution',
  ])('A23: what versions 1, 2 and 3 have is read: %s', async (name) => {
    await expectItsRows(name);
  });
});

function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? Number(member) : member));
}
