import { resultType } from '../../table/partitioning/apply-transform.ts';
import { partitionPathOf } from '../../table/partitioning/partition-path.ts';
import type { PartitionValue } from './content-file.ts';
import { fieldById } from './schema-fields.ts';
import type { IcebergSchema, PartitionSpec } from './table-metadata.ts';

/** The partition of a spec as people read it: see `partitionPathOf`. */
export function partitionPath(spec: PartitionSpec, schema: IcebergSchema, partition: readonly PartitionValue[]): string {
  return partitionPathOf(
    spec.fields.map(({ name, transform, sourceId }, index) => {
      const source = fieldById(schema, sourceId);
      const type = source === undefined ? undefined : resultType(transform, source.type);
      return { name, transform, type, value: partition[index] };
    }),
  );
}
