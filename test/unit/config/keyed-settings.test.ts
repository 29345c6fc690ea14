import { describe, expect, it } from 'vitest';
import { isServiceError } from '../../../src/base/errors.ts';
import { loadConfig } from '../../../src/config/load-config.ts';

function issuesOf(table: string, route = ''): readonly string[] {
  const yaml = `
pipeline: p
tables:
  - name: t
    columns:
      - { name: id, type: long, nullable: false }
      - { name: d, type: double, nullable: false }
      - { name: v, type: string }
${table
  .split('\n')
  .map((line) => `    ${line}`)
  .join('\n')}
ingest: { routes: [{ topics: [t], table: t ${route} }] }
`;
  try {
    loadConfig({ files: ['/work/p.yaml'], env: {}, workingDir: '/work', readText: () => yaml });
    return [];
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return error.message.split('\n').flatMap((line) => /tables\[0\]\.(.*)/.exec(line)?.[1] ?? []);
  }
}

describe('settings of keyed tables', () => {
  it.each([
    ['mode: upsert\nkeyColumns: [id]', ''],
    ["mode: upsert\nkeyColumns: [id]\ndeleteWhen: v = 'gone'", ''],
    ['mode: upsert\nkeyColumns: [id]\ndeleteWhen: operation', ', value: { envelope: debezium }'],
    ['mode: upsert\nkeyColumns: [id]\norderBy: [id]', ''],
    ['mode: upsert\nkeyColumns: [id]\nchangeImages: derived', ''],
    ['mode: upsert\nkeyColumns: [id]\nonTruncate: apply', ', value: { envelope: debezium }'],
    ["mode: patch\nkeyColumns: [id]\ndeleteWhen: v = 'gone'", ''],
    ["mode: upsert\nkeyColumns: [id]\norderBy: [id]\ndeleteWhen: v = 'gone'\ntombstoneRetention: 7d\ntombstoneTable: graves", ''],
  ])('are taken: %s', (table, route) => {
    expect(issuesOf(table, route)).toEqual([]);
  });

  it.each([
    ['keyColumns: [id]', '', 'is only for tables of mode upsert'],
    ['deleteWhen: never', '', 'is only for tables of mode upsert'],
    ['onRepeatedKeys: fail', '', 'is only for tables of mode upsert'],
    ['onTruncate: apply', '', 'is only for tables of mode upsert'],
    ['changeImages: derived', '', 'is only for tables of mode upsert'],
    ['format: iceberg\nmode: upsert\nkeyColumns: [id]\nchangeImages: stored', '', 'is only for tables of format delta'],
    ['mode: upsert\nkeyColumns: [id]\nonTruncate: apply', '', 'the route has no value.envelope: debezium'],
    ['mode: upsert\nkeyColumns: [id]\nonTruncate: apply', ", where: 'id > 1', value: { envelope: debezium }", 'apply does not go together'],
    ['mode: patch\nkeyColumns: [id]\norderBy: [id]', '', 'nobody can say which of them are late'],
    ['mode: patch\nkeyColumns: [id]', ", where: 'id > 1'", 'patch does not go together with columns, select, where or expect'],
    ['mode: patch\nkeyColumns: [id]', ', value: { format: csv, fields: [id, d, v] }', 'payloads of format csv have all of them'],
    ['tombstoneRetention: 7d', '', 'is only for tables of mode upsert'],
    ["mode: upsert\nkeyColumns: [id]\ndeleteWhen: v = 'gone'\ntombstoneRetention: 7d", '', 'needs orderBy'],
    ['mode: upsert\nkeyColumns: [id]\norderBy: [id]\ntombstoneRetention: 7d', '', 'no record deletes a key: set deleteWhen'],
    ["mode: patch\nkeyColumns: [id]\ndeleteWhen: v = 'gone'\ntombstoneRetention: 7d", '', 'is not for mode patch'],
    ['mode: upsert\nkeyColumns: [id]\norderBy: [id]\ntombstoneRetention: 7d\nonTruncate: apply', '', 'from before a truncation'],
    ['mode: upsert\nkeyColumns: [id]\norderBy: [id]\ntombstoneTable: graves', '', 'needs tombstoneRetention'],
    [
      "mode: upsert\nkeyColumns: [id]\norderBy: [id]\ndeleteWhen: v = 'gone'\ntombstoneRetention: 7d\ntombstoneTable: t",
      '',
      'tombstoneTable: a second table is called "t"',
    ],
    ['mode: upsert', '', 'upsert needs the columns that make up the key: keyColumns'],
    ['mode: upsert\nkeyColumns: [x]', '', '"x" is no column of the table'],
    ['mode: upsert\nkeyColumns: [v]', '', '"v" must be required (nullable: false)'],
    ['mode: upsert\nkeyColumns: [d]', '', '"d" has type double, which no key can have'],
    ['mode: upsert\nkeyColumns: [id, id]', '', '"id" is there twice'],
    ['mode: upsert\nkeyColumns: [id]\nevolve: { relaxRequired: true }', '', 'a key is never null'],
    ['mode: upsert\nkeyColumns: [id]\ndeleteWhen: operation', '', 'the route has no value.envelope: debezium'],
    ['mode: upsert\nkeyColumns: [id]\ndeleteWhen: tombstone', '', 'a tombstone has only its key: "id" must be `from: key`'],
    ['mode: upsert\nkeyColumns: [id]\ndeleteWhen: tombstone', ', value: { tombstones: skip }', 'which its route skips'],
    ['mode: upsert\nkeyColumns: [id]\ndeleteWhen: tombstone', ', value: { envelope: debezium }', 'by their operation'],
    ['orderBy: [id]', '', 'is only for tables of mode upsert'],
    ['mode: upsert\nkeyColumns: [id]\norderBy: [v]', '', '"v" must be required (nullable: false)'],
    ['mode: upsert\nkeyColumns: [id]\norderBy: [d]', '', '"d" has type double, which no order can have'],
    ['mode: upsert\nkeyColumns: [id]\norderBy: [id]', ', value: { envelope: debezium }', 'a delete has no value of its own in "id"'],
    [
      'mode: upsert\nkeyColumns: [id]\norderBy: [id]',
      ', value: { envelope: debezium }, select: [id, v, d]',
      'does not go together with the select',
    ],
    ['mode: upsert\nkeyColumns: [id]\nproperties: { delta.appendOnly: "true" }', '', 'delta.appendOnly forbids'],
    [
      'mode: upsert\nkeyColumns: [id]\nchangeImages: derived\nproperties: { delta.enableChangeDataFeed: "false" }',
      '',
      'derived changes nothing of a table with delta.enableChangeDataFeed: false',
    ],
    [
      'mode: upsert\nkeyColumns: [id]\nchangeImages: derived\nproperties: { delta.enableDeletionVectors: "false" }',
      '',
      'derived changes nothing of a table with delta.enableDeletionVectors: false',
    ],
    ['mode: upsert\nkeyColumns: [id]\ndeleteWhen: x = 1', '', 'deleteWhen: '],
    ['mode: upsert\nkeyColumns: [id]\ndeleteWhen: v', '', 'deleteWhen: '],
  ])('are refused by what is wrong: %s', (table, route, problem) => {
    expect(issuesOf(table, route).join('\n')).toContain(problem);
  });

  it('make a table beside theirs that remembers deletes, which takes no records', () => {
    const yaml = (route: string) => `
pipeline: p
catalogs: [{ name: lake, type: jdbc, uri: "sqlite:///tmp/lake.db", warehouse: /tmp/lake }]
tables:
  - { name: a, path: "s3://lake/db/a/", format: delta, ${keyedBy} }
  - { name: b, catalog: lake, identifier: n.s.b, format: iceberg, tombstoneTable: graves, ${keyedBy} }
ingest: { routes: [{ topics: [a], table: a }, { topics: [b], table: b } ${route}] }
`;
    const load = (route: string) =>
      loadConfig({ files: ['/work/p.yaml'], env: {}, workingDir: '/work', readText: () => yaml(route) }).config.tables;
    expect(load('').map(({ name, location, inCatalog, tombstonesOf }) => [name, location, inCatalog?.table, tombstonesOf])).toEqual([
      ['a', 's3://lake/db/a/', undefined, undefined],
      ['b', 'lake.n.s.b', 'b', undefined],
      ['a__deletes', 's3://lake/db/a__deletes', undefined, 'a'],
      ['graves', 'lake.n.s.graves', 'graves', 'b'],
    ]);
    expect(() => load(', { topics: [c], table: graves }')).toThrow(
      '"graves" remembers the deleted keys of "b" and takes no records itself',
    );
  });
});

const keyedBy =
  'mode: upsert, keyColumns: [id], orderBy: [n], deleteWhen: gone, tombstoneRetention: 7d, columns: [{ name: id, type: long, nullable: false }, { name: n, type: long, nullable: false }, { name: gone, type: boolean }]';
