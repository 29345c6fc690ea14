import type { DataType } from '../../schema/types.ts';
import { listOf } from './connector-options.ts';
import type { RecordDraft } from './record-draft.ts';
import { RecordRow } from './record-row.ts';
import type { PlannedColumn } from './sink-plan.ts';
import type { Transform, TransformRule, TransformRules } from './transform-rules.ts';

/** Of transforms that unwrap change events. */
export const changeEventTransforms: TransformRules = {
  'io.debezium.transforms.ExtractNewRecordState': unwrap,
  'io.debezium.transforms.UnwrapFromEnvelope': unwrap,
  'org.apache.iceberg.connect.transforms.DebeziumTransform': promote,
  'org.apache.iceberg.connect.transforms.DmsTransform': () => ({
    left: 'take the members of data in select (data.id AS id, …), and metadata.operation AS op',
  }),
  'org.apache.iceberg.connect.transforms.MongoDebeziumTransform': () => ({
    left: 'documents arrive as texts of JSON in before and after; take them as string columns',
  }),
  'org.apache.iceberg.connect.transforms.JsonToMapTransform': jsonToMap,
};

const enveloped: ReadonlySet<unknown> = new Set(['json', 'connect-json', 'avro']);
const longs = /^(?:ts_ms|ts_us|ts_ns|lsn|txId|pos|.*_(?:ts_ms|ts_us|ts_ns|lsn|txId|pos))$/;

function setEnvelope(draft: RecordDraft, note: string): string | undefined {
  const format = draft.value.get('format')?.setting;
  if (!enveloped.has(format))
    return `change events are read as json, connect-json or avro, not as ${typeof format === 'string' ? format : 'what these are'}`;
  draft.value.set('envelope', { setting: 'debezium', note });
  return undefined;
}

/** Of the event: its own members are columns whose names begin with two underscores. */
function unwrap({ take }: Transform, draft: RecordDraft): ReturnType<TransformRule> {
  const left = setEnvelope(draft, 'ExtractNewRecordState');
  if (left !== undefined) return { left };
  const prefix = take('add.fields.prefix') ?? '__';
  for (const item of listOf(take('add.fields') ?? '')) {
    const [path = '', renamed] = item.split(':');
    const member = `__${path.replaceAll('.', '_')}`;
    const name = `${prefix}${(renamed ?? path).replaceAll('.', '_')}`;
    draft.added.push({ name, type: typeOf(path), member: name === member ? undefined : member, note: 'add.fields' });
  }
  const mode = take('delete.tombstone.handling.mode') ?? take('delete.handling.mode') ?? 'drop';
  take('drop.tombstones');
  if (mode.startsWith('rewrite')) {
    draft.added.push({ name: '__deleted', type: { kind: 'string' }, note: `${mode}: rows of deletes have 'true'` });
    return { became: 'value.envelope: debezium, and the column __deleted' };
  }
  const deleted: PlannedColumn = { name: '__deleted', type: { kind: 'boolean' }, note: 'for where' };
  draft.conditions.push({
    sql: 'NOT coalesce(__deleted, false)',
    needs: [deleted],
    note: `ExtractNewRecordState leaves out deletes (${mode})`,
  });
  return { became: 'value.envelope: debezium; deletes are left out by where' };
}

function promote({ take }: Transform, draft: RecordDraft): ReturnType<TransformRule> {
  take('cdc.target.pattern');
  const left = setEnvelope(draft, 'DebeziumTransform');
  if (left !== undefined) return { left };
  draft.added.push(
    { name: '__op', type: { kind: 'string' }, note: 'was _cdc.op; c, u, d, or r of a snapshot, where the sink had I, U, D' },
    { name: '__source_ts_ms', type: { kind: 'long' }, note: 'was _cdc.ts, a timestamp' },
  );
  draft.doubts.push('transform DebeziumTransform: the column _cdc is not written, __op and __source_ts_ms are');
  return { became: 'value.envelope: debezium. CHECK: there is no column _cdc, but __op and __source_ts_ms' };
}

function jsonToMap({ take }: Transform, draft: RecordDraft): ReturnType<TransformRule> {
  draft.value.set('format', { setting: 'json', note: 'JsonToMapTransform reads text as JSON' });
  draft.row = new RecordRow(draft.given);
  if (take('json.root') === 'true')
    return {
      left: 'the whole object becomes a map: with value.format: string, select: ["from_json(value, \'map<string,string>\') AS payload"]',
    };
  return { left: 'objects become maps: declare their columns as map<string,string>' };
}

function typeOf(path: string): DataType {
  return { kind: longs.test(path.replaceAll('.', '_')) ? 'long' : 'string' };
}
