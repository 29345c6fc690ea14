import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../../src/base/clock.ts';
import { auditHistory } from '../../../../src/commit/audit.ts';
import { rowsProblem } from '../../../../src/commit/audit-rows.ts';
import { sourcesInTable } from '../../../../src/config/sources-in-table.ts';
import { type CommitAccounting, parseAccounting, printAccounting } from '../../../../src/protocol/commit-accounting.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { benchYaml } from '../../../support/transform-bench.ts';
import { load } from '../../config/config-support.ts';

const several: CommitAccounting = { pipeline: 'p', ranges: [], records: 6, rows: 9, recordsWithRows: 3, deadLettered: 2, filtered: 1 };

function audited(accounting: CommitAccounting): ReturnType<typeof auditHistory> {
  const what = { operation: 'STREAMING UPDATE', operationParameters: {}, operationMetrics: {}, userMetadata: printAccounting(accounting) };
  const files = { addedFiles: 1, removedFiles: 0, addedRows: accounting.rows, dataChange: true };
  const version = { version: toVersion(1), committedAt: toEpochMs(1), engineInfo: undefined, progress: new Map<string, bigint>() };
  return auditHistory([{ ...version, ...what, ...files }]);
}

describe('the accounting of a commit with several rows of a record', () => {
  it('says how many records the rows are of, and balances by records', () => {
    expect(parseAccounting(printAccounting(several))).toEqual(several);
    expect(audited(several).findings.filter(({ rule }) => rule === 'balance')).toEqual([]);
    expect(audited({ ...several, recordsWithRows: 4 }).findings.map(({ rule }) => rule)).toContain('balance');
  });

  it('says why its rows cannot be told by source offset', () => {
    expect(rowsProblem({ offset: 'o' }, audited(several))).toContain('several rows of a record');
    expect(rowsProblem({ offset: 'o' }, audited({ ...several, rows: 3 }))).toBeUndefined();
  });
});

describe('the source columns of a table with a transform', () => {
  it('are those of the record that it takes over unchanged', () => {
    const columns = ['name: id, type: long', 'name: o, type: long', 'name: p, type: integer'];
    const route = `columns: [{ name: id, type: long }, { name: o, type: long, from: offset }, { name: part, type: integer, from: partition }]
select: [id, "o + 0 AS o", "part AS p"]`;
    const { config } = load({ yaml: benchYaml({ columns, route }) });
    const [table, first] = [config.tables[0], config.ingest.routes[0]];
    if (table === undefined || first === undefined) throw new Error('the configuration has a table and its route');
    expect(sourcesInTable(table, first)).toEqual([
      ['id', { kind: 'value', name: 'id' }],
      ['p', { kind: 'partition' }],
    ]);
    expect(sourcesInTable(table, {}).map(([name]) => name)).toEqual(['id', 'o', 'p']);
  });
});
