import type { DataType, Field, StructType } from '../../schema/types.ts';
import { physicalSchema } from '../column-mapping/physical-schema.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { statisticsRule } from '../files/statistics-rule.ts';

const text: DataType = { kind: 'string' };
const long: DataType = { kind: 'long' };
const integer: DataType = { kind: 'integer' };
const flag: DataType = { kind: 'boolean' };
const texts: DataType = { kind: 'list', element: text, elementNullable: true };
const textMap: DataType = { kind: 'map', key: text, value: text, valueNullable: true };

const vector: DataType = struct({ storageType: text, pathOrInlineDv: text, offset: integer, sizeInBytes: integer, cardinality: long });
const fileExtras: Readonly<Record<string, DataType>> = { deletionVector: vector, baseRowId: long, defaultRowCommitVersion: long };

/** Rows of files: all of a V2 checkpoint's sidecars, and a part of a classic checkpoint. */
export function fileColumns(snapshot: DeltaSnapshot): Readonly<Record<string, DataType>> {
  const { checkpointStatsAsJson, checkpointStatsAsStruct } = snapshot.settings;
  return {
    add: struct({
      path: text,
      partitionValues: textMap,
      size: long,
      modificationTime: long,
      dataChange: flag,
      tags: textMap,
      ...fileExtras,
      clusteringProvider: text,
      ...(checkpointStatsAsJson ? { stats: text } : {}),
      ...(checkpointStatsAsStruct ? structColumns(snapshot) : {}),
    }),
    remove: struct({
      path: text,
      deletionTimestamp: long,
      dataChange: flag,
      extendedFileMetadata: flag,
      partitionValues: textMap,
      size: long,
      ...fileExtras,
    }),
  };
}

/** The schema of a classic checkpoint. */
export function checkpointSchema(snapshot: DeltaSnapshot): StructType {
  return struct({
    txn: struct({ appId: text, version: long, lastUpdated: long }),
    ...fileColumns(snapshot),
    metaData: struct({
      id: text,
      name: text,
      description: text,
      format: struct({ provider: text, options: textMap }),
      schemaString: text,
      partitionColumns: texts,
      configuration: textMap,
      createdTime: long,
    }),
    protocol: struct({ minReaderVersion: integer, minWriterVersion: integer, readerFeatures: texts, writerFeatures: texts }),
    domainMetadata: struct({ domain: text, configuration: text, removed: flag }),
  });
}

export function struct(types: Readonly<Record<string, DataType>>): StructType {
  const fields = Object.entries(types).map(([name, type]): Field => ({ name, type, nullable: true }));
  return { kind: 'struct', fields };
}

/** Statistics and partition values by type, under physical names. */
function structColumns(snapshot: DeltaSnapshot): Readonly<Record<string, DataType>> {
  const { bounds, counts } = statisticsTypes(snapshot);
  const stats = struct({
    numRecords: long,
    ...(bounds.fields.length > 0 ? { minValues: bounds, maxValues: bounds } : {}),
    ...(counts.fields.length > 0 ? { nullCount: counts } : {}),
    tightBounds: flag,
  });
  const partitions = partitionTypes(snapshot);
  return { stats_parsed: stats, ...(partitions.fields.length > 0 ? { partitionValues_parsed: partitions } : {}) };
}

/** The columns with bounds and the columns with null counts, nested as the schema is. */
export function statisticsTypes(snapshot: DeltaSnapshot): { readonly bounds: StructType; readonly counts: StructType } {
  const { indexed = () => true } = statisticsRule(snapshot);
  const physical = physicalSchema(snapshot.schema, snapshot.mapping);
  return {
    bounds: leavesOf(physical, [], indexed, (type) => (hasBounds(type) ? type : undefined)),
    counts: leavesOf(physical, [], indexed, () => long),
  };
}

/** Partition columns that have values a checkpoint can hold, by physical name. */
export function partitionTypes(snapshot: DeltaSnapshot): StructType {
  const physical = physicalSchema(snapshot.schema, snapshot.mapping);
  const fields = snapshot.schema.fields.flatMap((field, index) => {
    const stored = physical.fields[index];
    const partitions = snapshot.partitionColumns.includes(field.name) && stored !== undefined && stored.type.kind !== 'binary';
    return partitions ? [{ name: stored.name, type: stored.type, nullable: true }] : [];
  });
  return { kind: 'struct', fields };
}

function leavesOf(
  type: StructType,
  path: readonly string[],
  indexed: (path: readonly string[]) => boolean,
  typeOf: (type: DataType) => DataType | undefined,
): StructType {
  const fields = type.fields.flatMap((field): readonly Field[] => {
    const own = [...path, field.name];
    if (field.type.kind === 'struct') {
      const inner = leavesOf(field.type, own, indexed, typeOf);
      return inner.fields.length === 0 ? [] : [{ name: field.name, type: inner, nullable: true }];
    }
    const leaf = indexed(own) ? typeOf(field.type) : undefined;
    return leaf === undefined ? [] : [{ name: field.name, type: leaf, nullable: true }];
  });
  return { kind: 'struct', fields };
}

/** Types with an order that statistics use. Decimals past a double's digits would lose some on their way through JSON. */
function hasBounds(type: DataType): boolean {
  if (type.kind === 'decimal') return type.precision <= 15;
  return !['boolean', 'binary', 'struct', 'list', 'map'].includes(type.kind);
}
