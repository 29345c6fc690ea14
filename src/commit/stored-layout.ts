import { assert } from '../base/assert.ts';
import { annotateUuids } from '../codec/parquet/annotate-uuids.ts';
import { rowGroupLayout } from '../codec/parquet/row-group-layout.ts';
import type { DataType, Field, StructType } from '../schema/types.ts';
import type { StoredLayout } from '../table/staged-file.ts';

/** Where a written file has its row groups and how large its columns are. */
export function storedLayout(bytes: Uint8Array, schema: StructType): StoredLayout {
  const leaves = schema.fields.flatMap(leavesOf);
  const { offsets, columnBytes } = rowGroupLayout(bytes);
  assert(
    columnBytes.length === 0 || columnBytes.length === leaves.length,
    `a file of ${leaves.length} leaf columns has ${columnBytes.length}`,
  );
  const sizes = leaves.flatMap(({ id }, index) => (id === undefined ? [] : [[id, columnBytes[index] ?? 0] as const]));
  return { splitOffsets: offsets, columnBytes: new Map(sizes) };
}

/** The file with its UUID columns declared as such, which the library has no word for. Columns without an id stay bytes. */
export function declareUuids(bytes: Uint8Array, schema: StructType): Uint8Array {
  const uuids = schema.fields
    .flatMap(leavesOf)
    .flatMap(({ id, type }) => (id !== undefined && type.kind === 'string' && type.format === 'uuid' ? [id] : []));
  return uuids.length === 0 ? bytes : annotateUuids(bytes, new Set(uuids));
}

interface Leaf {
  readonly id: number | undefined;
  readonly type: DataType;
}

function leavesOf({ type, id }: Pick<Field, 'type' | 'id'>): readonly Leaf[] {
  switch (type.kind) {
    case 'struct':
      return type.fields.flatMap(leavesOf);
    case 'list':
      return leavesOf({ type: type.element, id: type.elementId });
    case 'map':
      return [...leavesOf({ type: type.key, id: type.keyId }), ...leavesOf({ type: type.value, id: type.valueId })];
    default:
      return [{ id, type }];
  }
}
