import { describeType } from '../../schema/describe-type.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import type { LeaderPoint } from '../../table/twin.ts';
import { specById } from '../metadata/partition-type.ts';
import { columnPath } from '../metadata/schema-fields.ts';
import type { SnapshotState } from '../snapshot-state.ts';

/** Why files of a leader are no files of the table; `undefined`: they are. What the table has beyond the leader is null in them. */
export function misfitOf({ metadata, icebergSchema }: SnapshotState, { schema, partitionColumns }: LeaderPoint): string | undefined {
  const fields = specById(metadata, metadata.defaultSpecId)?.fields ?? [];
  const names = fields.map(({ sourceId }) => columnPath(icebergSchema, sourceId) ?? '');
  if (fields.some(({ transform }) => transform.kind !== 'identity') || names.join('\0') !== partitionColumns.join('\0'))
    return `it is partitioned by ${list(names)}, its leader by ${list(partitionColumns)}`;
  return structMisfit(icebergSchema.struct, schema, []);
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ');
}

function structMisfit(twin: StructType, leader: StructType, above: readonly string[]): string | undefined {
  for (const { name, type, nullable } of leader.fields) {
    const path = [...above, name];
    const own = twin.fields.find((field) => field.name === name);
    if (own === undefined) return `it has no column "${path.join('.')}"`;
    if (nullable && !own.nullable) return `its column "${path.join('.')}" is required`;
    const inside = typeMisfit(own.type, type, path);
    if (inside !== undefined) return inside;
  }
  const missing = twin.fields.find((field) => !field.nullable && !leader.fields.some(({ name }) => name === field.name));
  return missing === undefined ? undefined : `its column "${[...above, missing.name].join('.')}" is required, and its leader has none`;
}

function typeMisfit(twin: DataType, leader: DataType, path: readonly string[]): string | undefined {
  if (twin.kind === 'struct' && leader.kind === 'struct') return structMisfit(twin, leader, path);
  if (twin.kind === 'list' && leader.kind === 'list') {
    if (leader.elementNullable && !twin.elementNullable) return `elements of its column "${path.join('.')}" are required`;
    return typeMisfit(twin.element, leader.element, [...path, 'element']);
  }
  if (twin.kind === 'map' && leader.kind === 'map') {
    if (leader.valueNullable && !twin.valueNullable) return `values of its column "${path.join('.')}" are required`;
    return typeMisfit(twin.key, leader.key, [...path, 'key']) ?? typeMisfit(twin.value, leader.value, [...path, 'value']);
  }
  const [own, theirs] = [describeType(twin), describeType(widened(leader))];
  if (own === theirs) return undefined;
  return `its column "${path.join('.')}" is ${own}, that of its leader ${describeType(leader)}`;
}

/** Integers of 8 and 16 bits have 32 here. */
function widened(type: DataType): DataType {
  return type.kind === 'byte' || type.kind === 'short' ? { kind: 'integer' } : type;
}
