import type { InputRow, InputValue } from '../../codec/build-columns.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import { columnsById } from '../metadata/schema-fields.ts';
import { decodeSingleValue } from '../metadata/single-value.ts';
import type { IcebergSchema } from '../metadata/table-metadata.ts';
import { valueOfPartition } from '../scan/constant-columns.ts';
import { longType, struct } from './columns.ts';

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
    .map(({ id, path, type }) => ({ id, type, name: path.join('.') }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return {
    type: struct(columns.map(({ name, type }) => [name, metricsType(type)])),
    valueOf: ({ columnSizes, valueCounts, nullValueCounts, nanValueCounts, lowerBounds, upperBounds }) => {
      const maps = { columnSizes, valueCounts, nullValueCounts, nanValueCounts, lowerBounds, upperBounds };
      const row: Record<string, InputRow> = {};
      for (const { name, id, type } of columns) row[name] = metricsOf(maps, id, type);
      return row;
    },
  };
}

function metricsType(type: DataType): StructType {
  return struct([
    ['column_size', longType],
    ['value_count', longType],
    ['null_value_count', longType],
    ['nan_value_count', longType],
    ['lower_bound', type],
    ['upper_bound', type],
  ]);
}

type MetricsMaps = Pick<ContentFile, 'columnSizes' | 'valueCounts' | 'nullValueCounts' | 'nanValueCounts' | 'lowerBounds' | 'upperBounds'>;

function metricsOf(maps: MetricsMaps, id: number, type: DataType): InputRow {
  return {
    column_size: maps.columnSizes?.get(id),
    value_count: maps.valueCounts?.get(id),
    null_value_count: maps.nullValueCounts?.get(id),
    nan_value_count: maps.nanValueCounts?.get(id),
    lower_bound: boundValue(type, maps.lowerBounds?.get(id)),
    upper_bound: boundValue(type, maps.upperBounds?.get(id)),
  };
}

function boundValue(type: DataType, bytes: Uint8Array | undefined): InputValue {
  return bytes === undefined ? undefined : valueOfPartition(type, decodeSingleValue(type, bytes));
}
