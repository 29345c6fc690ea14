import { describe, expect, it } from 'vitest';
import { type Action, type AddFile, removeOf } from '../../../../src/delta/actions.ts';
import { DeltaSnapshot } from '../../../../src/delta/delta-snapshot.ts';
import { type CheckedTransaction, conflictBehind } from '../../../../src/delta/transaction/conflict-checker.ts';
import { bindExpression } from '../../../../src/expr/bind-expression.ts';
import type { Expression } from '../../../../src/expr/expression.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import { toVersion } from '../../../../src/table/version.ts';

const field = (name: string, type: string, metadata = '{}'): string =>
  `{"name":"${name}","type":"${type}","nullable":true,"metadata":${metadata}}`;
const schemaOf = (...fields: readonly string[]): string => `{"type":"struct","fields":[${fields.join(',')}]}`;
const named = (writerFeatures: readonly string[]): Action => ({
  kind: 'protocol',
  minReaderVersion: 1,
  minWriterVersion: 7,
  writerFeatures,
});
const protocol = named(['appendOnly', 'invariants']);
const metadata = (schemaString: string, configuration: Readonly<Record<string, string>> = {}): Action => ({
  kind: 'metaData',
  id: 'table',
  formatProvider: 'parquet',
  formatOptions: {},
  schemaString,
  partitionColumns: ['p'],
  configuration,
});
const plain = schemaOf(field('id', 'long'), field('p', 'string'));
const before = DeltaSnapshot.replay('t', { version: toVersion(4), modifiedMs: 1 }, [protocol, metadata(plain)]);

const file = (p: string | undefined, ids: readonly [number, number], dataChange = true): AddFile => ({
  kind: 'add',
  path: `${p ?? 'null'}-${ids.join('-')}`,
  storedPath: `${p ?? 'null'}-${ids.join('-')}`,
  partitionValues: { p },
  sizeBytes: 1,
  modifiedMs: 1,
  dataChange,
  stats: `{"numRecords":2,"minValues":{"id":${ids[0]}},"maxValues":{"id":${ids[1]}},"nullCount":{"id":0}}`,
});
const removal = (add: AddFile, dataChange = true): Action => removeOf(add, { deletedMs: 1, dataChange });
const condition = (text: string): Expression => bindExpression(parseExpression(text), [{ schema: before.schema }]);
const blind: Action = { kind: 'commitInfo', body: { operation: 'WRITE', isBlindAppend: true } };

/** Name of what stands against the transaction behind a version with these actions. */
function conflict(winner: readonly Action[], transaction: Partial<CheckedTransaction>, onto: DeltaSnapshot = before): string | undefined {
  const checked: CheckedTransaction = { reads: {}, actions: [], isolationLevel: 'Serializable', ...transaction };
  return conflictBehind('t', checked, { version: toVersion(5), modifiedMs: 2, actions: winner }, onto)?.name;
}

describe('conflictBehind', () => {
  const x = file('x', [1, 10]);

  it('never holds an append that read nothing against appends, updates, deletes and compactions', () => {
    const append = { actions: [file('x', [5, 6])] };
    for (const winner of [[blind, x], [removal(x), file('x', [2, 3])], [removal(x)], [removal(x, false), file('x', [1, 10], false)]]) {
      expect(conflict(winner, append)).toBeUndefined();
    }
  });

  it('finds rows that should have been read by partition values, and lets other partitions pass', () => {
    const update = { reads: { conditions: [condition("p = 'y'")] } };
    expect(conflict([blind, x], update)).toBeUndefined();
    expect(conflict([blind, file('y', [1, 1])], update)).toBe('ConcurrentAppendException');
    expect(conflict([blind, file(undefined, [1, 1])], update)).toBeUndefined();
  });

  it('finds rows that should have been read by statistics', () => {
    const update = { reads: { conditions: [condition('id = 50')] } };
    expect(conflict([blind, x], update)).toBeUndefined();
    expect(conflict([blind, file('x', [40, 60])], update)).toBe('ConcurrentAppendException');
    const unknown: AddFile = { ...file('x', [1, 2]), stats: undefined };
    expect(conflict([blind, unknown], update)).toBe('ConcurrentAppendException');
  });

  it('takes whole-table readers to have read everything', () => {
    expect(conflict([blind, x], { reads: { wholeTable: true } })).toBe('ConcurrentAppendException');
    expect(conflict([removal(x)], { reads: { wholeTable: true } })).toBe('ConcurrentDeleteReadException');
  });

  it('finds partitions that were replaced, by the meaning of their values', () => {
    const overwrite = { reads: { partitions: [{ p: 'x' }, { p: undefined }] } };
    expect(conflict([blind, x], overwrite)).toBe('ConcurrentAppendException');
    expect(conflict([blind, { ...file(undefined, [1, 1]), partitionValues: { p: '' } }], overwrite)).toBe('ConcurrentAppendException');
    expect(conflict([blind, file('z', [1, 1])], overwrite)).toBeUndefined();
  });

  it('holds removed files against those who read or remove them', () => {
    expect(conflict([removal(x)], { reads: { files: [x] } })).toBe('ConcurrentDeleteReadException');
    expect(conflict([removal(x)], { actions: [removal(x)] })).toBe('ConcurrentDeleteDeleteException');
    expect(conflict([removal(x)], { reads: { files: [file('x', [7, 8])] }, actions: [removal(file('x', [7, 8]))] })).toBeUndefined();
  });

  it('looks at added rows first, then at read files, then at removed files', () => {
    const update = { reads: { conditions: [condition('id = 5')], files: [x] }, actions: [removal(x)] };
    expect(conflict([removal(x), file('x', [1, 9])], update)).toBe('ConcurrentAppendException');
    expect(conflict([removal(x), file('x', [20, 30])], update)).toBe('ConcurrentDeleteReadException');
  });

  it('lets a rewrite pass whatever adds rows, and a reader pass what a rewrite adds', () => {
    const optimize = { isolationLevel: 'SnapshotIsolation', reads: { files: [x] }, actions: [removal(x, false)] } as const;
    expect(conflict([blind, file('x', [1, 5])], optimize)).toBeUndefined();
    expect(conflict([removal(x, false)], optimize)).toBe('ConcurrentDeleteReadException');
    const other = file('x', [7, 8]);
    expect(conflict([removal(other, false), file('x', [1, 10], false)], { reads: { conditions: [condition('id = 5')] } })).toBeUndefined();
  });

  it('lets a write-serializable update pass blind appends only', () => {
    const update = { isolationLevel: 'WriteSerializable', reads: { wholeTable: true } } as const;
    expect(conflict([blind, x], update)).toBeUndefined();
    expect(conflict([x], update)).toBe('ConcurrentAppendException');
  });

  it('holds changed metadata against everybody, but not how far identity columns counted or the switch of row tracking', () => {
    const append = { actions: [x] };
    expect(conflict([metadata(schemaOf(field('id', 'long')))], append)).toBe('MetadataChangedException');
    expect(conflict([metadata(plain)], append)).toBeUndefined();
    expect(conflict([metadata(plain, { 'delta.enableRowTracking': 'true' })], append)).toBeUndefined();
    const counting = (mark: string): Action =>
      metadata(schemaOf(field('id', 'long', `{"delta.identity.start":1,"delta.identity.step":1${mark}}`), field('p', 'string')));
    const identity = DeltaSnapshot.replay('t', { version: toVersion(4), modifiedMs: 1 }, [protocol, counting('')]);
    const moved = counting(',"delta.identity.highWaterMark":9');
    expect(conflict([moved], append, identity)).toBeUndefined();
    expect(conflict([moved], { actions: [moved] }, identity)).toBe('MetadataChangedException');
  });

  it('holds a changed protocol against those who change it too or did not follow what is asked now', () => {
    const append = { actions: [x] };
    expect(conflict([named(['appendOnly', 'invariants', 'inCommitTimestamp'])], append)).toBeUndefined();
    expect(conflict([named(['appendOnly', 'invariants', 'columnMapping'])], append)).toBe('ProtocolChangedException');
    expect(conflict([named(['appendOnly'])], append)).toBe('ProtocolChangedException');
    expect(conflict([named(['appendOnly', 'invariants', 'inCommitTimestamp'])], { actions: [protocol] })).toBe('ProtocolChangedException');
  });

  it('holds a domain that both change against the later, row tracking excepted', () => {
    const domain = (name: string): Action => ({ kind: 'domainMetadata', domain: name, configuration: '{}', removed: false });
    expect(conflict([domain('mine')], { actions: [domain('mine')] })).toBe('MetadataChangedException');
    expect(conflict([domain('yours')], { actions: [domain('mine')] })).toBeUndefined();
    expect(conflict([domain('delta.rowTracking')], { actions: [domain('delta.rowTracking')] })).toBeUndefined();
  });

  it('holds a mark of an application against those who read it', () => {
    const winner: readonly Action[] = [{ kind: 'txn', appId: 'a', version: 1n }];
    expect(conflict(winner, { reads: { appIds: ['a'] } })).toBe('ConcurrentTransactionException');
    expect(conflict(winner, { reads: { appIds: ['b'] } })).toBeUndefined();
  });
});
