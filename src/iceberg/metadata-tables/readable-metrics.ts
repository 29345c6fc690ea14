import type { InputRow, InputValue } from '../../codec/build-columns.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import { columnsById } from '../metadata/schema-fields.ts';
import { decodeSingleValue } from '../metadata/single-value.ts';
import type { IcebergSchema } from '../metadata/table-metadata.ts';
import { valueOfPartition } from '../scan/constant-columns.ts';
import { type ColumnOf, longType, rowsOf, struct } from './columns.ts';

/** The metrics of files by the names of columns, with bounds as values. */
export interface ReadableMetrics {
  readonly type: StructType;
  /** Maps that are decoded when they are asked for are asked for once. */
  valueOf(file: ContentFile): InputRow;
}

/** A member for each primitive column of the schema, nested ones by their dotted names, in the order of the names. */
export function readableMetrics(schema: IcebergSchema): ReadableMetrics {
  const columns = [...columnsById(schema).values()]
    .filter(({ type }) => type.kind !== 'struct' && type.kind !== 'list' && type.kind !== 'map')
    .map(({ id, path, type }) => ({ name: path.join('.'), ...rowsOf(metricsOf(id, type)) }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return {
    type: struct(columns.map(({ name, schema: metrics }) => [name, metrics])),
    valueOf: ({ columnSizes, valueCounts, nullValueCounts, nanValueCounts, lowerBounds, upperBounds }) => {
      const maps = { columnSizes, valueCounts, nullValueCounts, nanValueCounts, lowerBounds, upperBounds };
      return Object.fromEntries(columns.map(({ name, rowOf }) => [name, rowOf(maps)]));
    },
  };
}

type MetricsMaps = Pick<ContentFile, 'columnSizes' | 'valueCounts' | 'nullValueCounts' | 'nanValueCounts' | 'lowerBounds' | 'upperBounds'>;

function metricsOf(id: number, type: DataType): readonly ColumnOf<MetricsMaps>[] {
  const bound = (bytes: Uint8Array | undefined): InputValue =>
    bytes === undefined ? undefined : valueOfPartition(type, decodeSingleValue(type, bytes));
  return [
    ['column_size', longType, ({ columnSizes }) => columnSizes?.get(id)],
    ['value_count', longType, ({ valueCounts }) => valueCounts?.get(id)],
    ['null_value_count', longType, ({ nullValueCounts }) => nullValueCounts?.get(id)],
    ['nan_value_count', longType, ({ nanValueCounts }) => nanValueCounts?.get(id)],
    ['lower_bound', type, ({ lowerBounds }) => bound(lowerBounds?.get(id))],
    ['upper_bound', type, ({ upperBounds }) => bound(upperBounds?.get(id))],
  ];
}
