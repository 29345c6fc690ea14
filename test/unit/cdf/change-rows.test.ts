import { expect, it } from 'vitest';
import { changeLines } from '../../../src/cdf/change-rows.ts';
import { toVersion } from '../../../src/table/version.ts';
import { noEngine } from '../../support/no-engine.ts';
import { ChangeTable } from './change-table.ts';

it('prints the changes of a range of versions as flat lines in order', async () => {
  const table = new ChangeTable();
  await table.commit([{ kind: 'insert', rows: [{ id: 1, name: 'a' }] }]);
  await table.commit([{ kind: 'insert', rows: [{ id: 2 }] }]);
  await table.commit([
    {
      kind: 'recorded',
      rows: [
        { id: 1, name: 'a', _change_type: 'update_preimage' },
        { id: 1, name: 'b', _change_type: 'update_postimage' },
        { id: 2, _change_type: 'delete' },
      ],
    },
  ]);
  const lines: string[] = [];
  const range = { fromVersion: toVersion(1), untilVersion: toVersion(3) };
  for await (const line of changeLines({ table, openStore: table.openStore, openEngine: noEngine, ...range })) lines.push(line);
  const tail = (version: number): string => `"_commit_version":${version},"_commit_timestamp":"2023-11-14T22:13:2${version}.000000Z"}`;
  expect(lines).toEqual([
    `{"id":2,"name":null,"_change_type":"insert",${tail(1)}`,
    `{"id":2,"name":null,"_change_type":"delete",${tail(2)}`,
    `{"id":1,"name":"a","_change_type":"update_preimage",${tail(2)}`,
    `{"id":1,"name":"b","_change_type":"update_postimage",${tail(2)}`,
  ]);
});
