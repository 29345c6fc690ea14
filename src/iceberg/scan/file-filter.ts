import type { Expression } from '../../expr/expression.ts';
import { columnsOf } from '../../expr/expression-tree.ts';
import type { ColumnFacts } from '../../expr/pruning/file-facts.ts';
import { type FilePruner, filePruner } from '../../expr/pruning/may-match.ts';
import type { DataType } from '../../schema/types.ts';
import { applyTransform, resultType } from '../../table/partitioning/apply-transform.ts';
import type { ContentFile, ManifestFile, PartitionValue } from '../metadata/content-file.ts';
import { columnsById, type SchemaColumn } from '../metadata/schema-fields.ts';
import type { IcebergSchema, PartitionField, TableMetadata } from '../metadata/table-metadata.ts';
import { boundOf } from './bound-value.ts';
import { combined, factsOfMetrics } from './column-facts.ts';
import { factsOfSummary, factsOfValue, type PartitionOfColumn } from './partition-facts.ts';
import { partitionKey } from './partition-key.ts';
import { remappedColumns } from './remapped-columns.ts';
import { requiredValues } from './required-values.ts';

/** Leaves out what cannot hold a row of a condition. What is not certain stays. */
export interface FileFilter {
  /** By the summaries of the manifest's partitions. */
  mayHoldManifest(manifest: ManifestFile): boolean;
  /** By the partition alone: what is true of data files is true of the delete files that concern them. */
  mayHoldPartition(file: ContentFile): boolean;
  /** By partition, bounds and counts. */
  mayHoldFile(file: ContentFile): boolean;
}

/** @param filter bound to the schema's struct. */
export function fileFilter(metadata: TableMetadata, schema: IcebergSchema, filter: Expression): FileFilter {
  return new ProjectedFilter(metadata, schema, filter);
}

/** A column of the condition. */
interface KnownColumn {
  readonly id: number;
  readonly path: readonly string[];
  readonly type: DataType;
}

/** A bucket field with the buckets that rows of the condition can be in. */
interface AllowedBuckets {
  readonly place: number;
  readonly buckets: ReadonlySet<number>;
}

/** What a spec's partition values say of the condition's columns. */
interface SpecKnowledge {
  readonly fieldCount: number;
  /** Places in the tuple that the condition's columns have to do with. */
  readonly places: readonly number[];
  readonly columns: ReadonlyMap<string, readonly PartitionOfColumn[]>;
  readonly buckets: readonly AllowedBuckets[];
}

class ProjectedFilter implements FileFilter {
  readonly #mayMatch: FilePruner;
  readonly #columns: ReadonlyMap<string, KnownColumn>;
  readonly #specs: ReadonlyMap<number, SpecKnowledge>;
  readonly #remapped: ReadonlySet<number>;
  /** Partitions repeat from file to file: by spec, then by the values that have to do with the condition. */
  readonly #partitions = new Map<number, Map<unknown, boolean>>();

  constructor(metadata: TableMetadata, schema: IcebergSchema, filter: Expression) {
    this.#mayMatch = filePruner(filter);
    this.#columns = knownColumns(schema, filter);
    this.#remapped = remappedColumns(metadata);
    this.#specs = new Map(metadata.partitionSpecs.map((spec) => [spec.specId, specKnowledge(spec.fields, this.#columns, filter)]));
  }

  mayHoldManifest(manifest: ManifestFile): boolean {
    const spec = this.#specs.get(manifest.specId);
    const { partitions } = manifest;
    if (spec === undefined || partitions?.length !== spec.fieldCount || spec.fieldCount === 0) return true;
    for (const { place, buckets } of spec.buckets) {
      if (!summaryHolds(partitions[place], buckets)) return false;
    }
    return this.#mayMatch({
      column: (path) => {
        const fields = spec.columns.get(keyOf(path)) ?? [];
        return sharpest(fields.map((field) => summaryFacts(field, partitions[field.place])));
      },
    });
  }

  mayHoldPartition(file: ContentFile): boolean {
    const spec = this.#specs.get(file.specId);
    if (spec === undefined || spec.places.length === 0) return true;
    const known = this.#partitions.get(file.specId) ?? new Map<unknown, boolean>();
    this.#partitions.set(file.specId, known);
    const key = keyOfValues(file.partition, spec.places);
    const present = known.get(key);
    if (present !== undefined) return present;
    const may =
      spec.buckets.every(({ place, buckets }) => isIn(file.partition[place], buckets)) &&
      this.#mayMatch({ column: (path) => partitionFacts(spec, file, path) });
    known.set(key, may);
    return may;
  }

  mayHoldFile(file: ContentFile): boolean {
    if (!this.mayHoldPartition(file)) return false;
    // A condition mentions few columns, some twice (BETWEEN), and metrics are decoded each time they are asked for.
    const known = new Map<string, ColumnFacts | undefined>();
    return this.#mayMatch({
      rowCount: file.recordCount,
      column: (path) => {
        const key = keyOf(path);
        if (!known.has(key)) known.set(key, this.#factsOf(file, path, key));
        return known.get(key);
      },
    });
  }

  #factsOf(file: ContentFile, path: readonly string[], key: string): ColumnFacts | undefined {
    const column = this.#columns.get(key);
    if (column === undefined) return undefined;
    const spec = this.#specs.get(file.specId);
    const partition = spec === undefined ? undefined : partitionFacts(spec, file, path);
    return combined(partition, this.#remapped.has(column.id) ? undefined : factsOfMetrics(file, column));
  }
}

function knownColumns(schema: IcebergSchema, filter: Expression): ReadonlyMap<string, KnownColumn> {
  const columns = new Map<string, SchemaColumn>();
  for (const column of columnsById(schema).values()) if (!column.repeated) columns.set(keyOf(column.path), column);
  return new Map(
    columnsOf(filter).flatMap(({ path }) => {
      const column = columns.get(keyOf(path));
      return column === undefined ? [] : [[keyOf(path), { id: column.id, path, type: column.type }] as const];
    }),
  );
}

function specKnowledge(fields: readonly PartitionField[], columns: ReadonlyMap<string, KnownColumn>, filter: Expression): SpecKnowledge {
  const byColumn = new Map<string, PartitionOfColumn[]>();
  const buckets: AllowedBuckets[] = [];
  for (const [place, { sourceId, transform }] of fields.entries()) {
    for (const [key, column] of columns) {
      if (column.id !== sourceId || transform.kind === 'unknown' || transform.kind === 'void') continue;
      const { type, path } = column;
      const made = resultType(transform, type);
      // A transform that the column's present type does not have tells nothing.
      if (made === undefined) continue;
      const field = { transform, type, resultType: made, place };
      byColumn.set(key, [...(byColumn.get(key) ?? []), field]);
      if (transform.kind !== 'bucket') continue;
      const required = requiredValues(filter, path);
      if (required === undefined) continue;
      buckets.push({ place, buckets: new Set(required.map((value) => Number(applyTransform(transform, type, value)))) });
    }
  }
  const places = [...new Set([...byColumn.values()].flat().map(({ place }) => place))];
  return { fieldCount: fields.length, places, columns: byColumn, buckets };
}

/** One value is its own key; `-0` and `0` may share theirs, for no comparison tells them apart. */
function keyOfValues(partition: ContentFile['partition'], places: readonly number[]): unknown {
  const [only = 0] = places;
  const value = partition[only];
  if (places.length === 1 && !(value instanceof Uint8Array)) return value;
  return partitionKey(
    0,
    places.map((place) => partition[place]),
  );
}

function partitionFacts(spec: SpecKnowledge, file: ContentFile, path: readonly string[]): ColumnFacts | undefined {
  const fields = spec.columns.get(keyOf(path));
  return fields === undefined ? undefined : sharpest(fields.map((field) => factsOfValue(field, file.partition[field.place])));
}

function summaryFacts(
  field: PartitionOfColumn,
  summary: NonNullable<ManifestFile['partitions']>[number] | undefined,
): ColumnFacts | undefined {
  return summary === undefined ? undefined : factsOfSummary(field, summary);
}

/** All facts hold; of two ranges that of the later field is taken. */
function sharpest(facts: readonly (ColumnFacts | undefined)[]): ColumnFacts | undefined {
  return facts.reduce<ColumnFacts | undefined>((known, more) => combined(known, more), undefined);
}

function isIn(value: PartitionValue, buckets: ReadonlySet<number>): boolean {
  // A row of a null bucket has no value, which no condition of these forms is true of.
  return value !== undefined && buckets.has(Number(value));
}

function summaryHolds(summary: NonNullable<ManifestFile['partitions']>[number] | undefined, buckets: ReadonlySet<number>): boolean {
  const lower = summary?.lowerBound === undefined ? undefined : boundOf({ kind: 'integer' }, summary.lowerBound);
  const upper = summary?.upperBound === undefined ? undefined : boundOf({ kind: 'integer' }, summary.upperBound);
  if (typeof lower !== 'bigint' || typeof upper !== 'bigint') return true;
  return [...buckets].some((bucket) => BigInt(bucket) >= lower && BigInt(bucket) <= upper);
}

function keyOf(path: readonly string[]): string {
  const [only = ''] = path;
  return path.length === 1 ? only : path.join('\0');
}
