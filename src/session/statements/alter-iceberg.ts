import { readSortKey } from '../../expr/parse/parse-call.ts';
import type { AlterAction, RefKind, RefRetention } from './statement.ts';
import type { StatementReader } from './statement-reader.ts';

type CreateRef = Extract<AlterAction, { kind: 'create-ref' }>;

/** After CREATE, CREATE OR REPLACE or REPLACE: a branch or a tag. */
export function readCreateRef(reader: StatementReader, mode: CreateRef['mode']): AlterAction {
  const { stream } = reader;
  const ref: RefKind = stream.expectOneOf('BRANCH', 'TAG') === 'BRANCH' ? 'branch' : 'tag';
  const ifNotExists = mode === 'create' && reader.ifNotExists();
  const name = stream.expectName('a name');
  return { kind: 'create-ref', ref, name, mode: ifNotExists ? 'create-if-absent' : mode, retention: readRetention(reader, ref) };
}

/** After DROP BRANCH or DROP TAG. */
export function readDropRef(reader: StatementReader, ref: RefKind): AlterAction {
  const ifExists = reader.ifExists();
  return { kind: 'drop-ref', ref, name: reader.stream.expectName('a name'), ifExists };
}

/** After WRITE: `[DISTRIBUTED BY PARTITION] [LOCALLY] ORDERED BY keys`, `UNORDERED`. */
export function readWriteOrder(reader: StatementReader): AlterAction {
  const { stream } = reader;
  const distributed = stream.takeWords('DISTRIBUTED');
  if (distributed) stream.expectWords('BY', 'PARTITION');
  if (stream.takeWords('UNORDERED')) return { kind: 'write-order', keys: [], distribution: distributed ? 'hash' : 'none' };
  const local = stream.takeWords('LOCALLY');
  if (!stream.takeWords('ORDERED')) {
    if (distributed && !local) return { kind: 'write-order', keys: [], distribution: 'hash' };
    throw stream.unexpected('ORDERED', ...(local ? [] : ['LOCALLY', 'UNORDERED', 'DISTRIBUTED']));
  }
  stream.expectWords('BY');
  const readKey = (): ReturnType<typeof readSortKey> => readSortKey(reader.expressions);
  const keys = stream.atOperator('(') ? stream.parenthesised(readKey) : stream.list(readKey);
  return { kind: 'write-order', keys, distribution: distributed ? 'hash' : local ? 'local' : 'range' };
}

function readRetention(reader: StatementReader, ref: RefKind): RefRetention {
  const { stream } = reader;
  let retention: RefRetention = {};
  if (stream.takeWords('AS', 'OF')) {
    stream.expectWords('VERSION');
    retention = { version: readVersion(reader) };
  }
  if (stream.takeWords('RETAIN')) retention = { ...retention, retainMs: readDuration(reader) };
  if (ref === 'branch' && stream.takeWords('WITH')) {
    stream.expectWords('SNAPSHOT', 'RETENTION');
    if (stream.peek().kind !== 'number') throw stream.unexpected('a number of snapshots, days, hours or minutes');
    if (stream.peek(1).kind === 'word' && stream.peek(1).value.toUpperCase() === 'SNAPSHOTS') {
      retention = { ...retention, minSnapshotsToKeep: reader.count('a number of snapshots') };
      stream.next();
    }
    if (stream.peek().kind === 'number') retention = { ...retention, maxSnapshotAgeMs: readDuration(reader) };
  }
  return retention;
}

function readVersion({ stream }: StatementReader): bigint {
  const token = stream.peek();
  if (token.kind !== 'number' || !/^\d{1,19}L?$/i.test(token.value)) throw stream.unexpected('a snapshot id');
  stream.next();
  return BigInt(token.value.replace(/l$/i, ''));
}

const unitMs: Readonly<Record<string, bigint>> = { DAYS: 86_400_000n, HOURS: 3_600_000n, MINUTES: 60_000n };

function readDuration(reader: StatementReader): bigint {
  const count = BigInt(reader.count('a number of days, hours or minutes'));
  return count * (unitMs[reader.stream.expectOneOf(...Object.keys(unitMs))] ?? 0n);
}
