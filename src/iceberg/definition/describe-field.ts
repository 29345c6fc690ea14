import type { DataType, Field } from '../../schema/types.ts';
import { printTransform } from '../../table/partitioning/transform.ts';
import type { PartitionField } from '../metadata/table-metadata.ts';
import { icebergTypeText } from '../metadata/type-text.ts';

/** A column as other implementations print it: `1: id: required long (the key)`. */
export function describeField({ id, name, nullable, type, metadata }: Field): string {
  const comment = metadata?.['comment'];
  const text = `${id ?? -1}: ${name}: ${nullable ? 'optional' : 'required'} ${describe(type)}`;
  return typeof comment === 'string' ? `${text} (${comment})` : text;
}

/** A partition field as other implementations print it: `1000: id_bucket: bucket[16](1)`. */
export function describePartitionField({ fieldId, name, transform, sourceId }: PartitionField): string {
  return `${fieldId}: ${name}: ${printTransform(transform)}(${sourceId})`;
}

function describe(type: DataType): string {
  switch (type.kind) {
    case 'struct':
      return `struct<${type.fields.map(describeField).join(', ')}>`;
    case 'list':
      return `list<${describe(type.element)}>`;
    case 'map':
      return `map<${describe(type.key)}, ${describe(type.value)}>`;
    default:
      return icebergTypeText(type);
  }
}
