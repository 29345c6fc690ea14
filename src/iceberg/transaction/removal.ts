import type { Expression } from '../../expr/expression.ts';
import { compareOrdered } from '../../expr/pruning/ordered-values.ts';
import type { DataType } from '../../schema/types.ts';
import { resultType } from '../../table/partitioning/apply-transform.ts';
import type { ContentFile, FieldSummary, ManifestEntry, ManifestFile, PartitionValue } from '../metadata/content-file.ts';
import { hasDeletionVectors } from '../metadata/format-features.ts';
import { fieldById } from '../metadata/schema-fields.ts';
import type { IcebergSchema, PartitionSpec, TableMetadata } from '../metadata/table-metadata.ts';
import { boundOf, identityBound } from '../scan/bound-value.ts';
import { type FileFilter, fileFilter } from '../scan/file-filter.ts';
import { partitionKey } from '../scan/partition-key.ts';
import { ValidationException } from './commit-errors.ts';
import { describeCondition } from './describe-condition.ts';
import type { SnapshotChange } from './snapshot-change.ts';

/** Which files of one kind a change takes out of a table. */
export interface Removal {
  /** What it asks for is nothing: no manifest needs to be read. */
  readonly isEmpty: boolean;
  /** Files that are named. By `fileKey`. */
  readonly named: ReadonlyMap<string, ContentFile>;
  /** Whether each of them must be found. */
  readonly mustBeThere: boolean;
  mayConcern(manifest: ManifestFile): boolean;
  /** @throws ValidationException for a file of which only some rows match the change's condition. */
  concerns(entry: ManifestEntry): boolean;
}

/** Names a file among a table's: several deletion vectors share one path. */
export function fileKey({ path, format, contentOffset }: Pick<ContentFile, 'path' | 'format' | 'contentOffset'>): string {
  return format === 'puffin' ? `${path}\0${contentOffset ?? ''}` : path;
}

/** What the change removes of the data files. @throws as `Removal.concerns`. */
export function dataRemoval(change: SnapshotChange, metadata: TableMetadata, schema: IcebergSchema): Removal {
  return new FileRemoval(metadata, schema, {
    named: change.removed.filter(({ content }) => content === 'data'),
    mustBeThere: true,
    partitions: change.replacedPartitions ?? [],
    where: change.removedWhere,
  });
}

/** What only removal of delete files knows. */
export interface DeleteRemovalFacts {
  /** Delete files before this sequence number concern no data file any more. */
  readonly minSequenceNumber: bigint;
  /** Data files that go: their deletion vectors go with them. */
  readonly removedData: ReadonlySet<string>;
}

/** What the change removes of the delete files: named ones, those of replaced partitions, and those that concern nothing any more. */
export function deleteRemoval(
  change: SnapshotChange,
  metadata: TableMetadata,
  schema: IcebergSchema,
  facts: DeleteRemovalFacts | undefined,
): Removal {
  return new FileRemoval(metadata, schema, {
    named: change.removed.filter(({ content }) => content !== 'data'),
    // Two commands that mark rows of a data file take the place of the same earlier deletes, and what both wrote holds these. Of deletion
    // vectors there is one for a data file: its place is taken once.
    mustBeThere: change.kind !== 'row-delta' || hasDeletionVectors(metadata),
    partitions: change.replacedPartitions ?? [],
    where: change.removedWhere,
    facts,
  });
}

interface Asked {
  readonly named: readonly ContentFile[];
  readonly mustBeThere: boolean;
  readonly partitions: readonly { readonly specId: number; readonly partition: readonly PartitionValue[] }[];
  readonly where: Expression | undefined;
  readonly facts?: DeleteRemovalFacts | undefined;
}

class FileRemoval implements Removal {
  readonly named: ReadonlyMap<string, ContentFile>;
  readonly mustBeThere: boolean;
  readonly #asked: Asked;
  readonly #partitions: ReadonlySet<string>;
  readonly #where: Where | undefined;
  readonly #places: PartitionPlaces;

  constructor(metadata: TableMetadata, schema: IcebergSchema, asked: Asked) {
    this.#asked = asked;
    this.named = new Map(asked.named.map((file) => [fileKey(file), file]));
    this.mustBeThere = asked.mustBeThere;
    this.#partitions = new Set(asked.partitions.map(({ specId, partition }) => partitionKey(specId, partition)));
    this.#where = asked.where === undefined ? undefined : new Where(metadata, schema, asked.where);
    this.#places = new PartitionPlaces(metadata, schema, [...asked.named, ...asked.partitions]);
  }

  get isEmpty(): boolean {
    return this.named.size === 0 && this.#partitions.size === 0 && this.#where === undefined && this.#asked.facts === undefined;
  }

  mayConcern(manifest: ManifestFile): boolean {
    if (this.#where?.mayHold(manifest) === true || this.#places.mayBeIn(manifest)) return true;
    const { facts } = this.#asked;
    return facts !== undefined && (manifest.minSequenceNumber < facts.minSequenceNumber || facts.removedData.size > 0);
  }

  concerns(entry: ManifestEntry): boolean {
    const { file } = entry;
    if (this.named.has(fileKey(file)) || this.#partitions.has(partitionKey(file.specId, file.partition))) return true;
    return this.#isIdle(entry) || this.#where?.matches(file) === true;
  }

  /** A delete file that concerns no data file any more. */
  #isIdle({ sequenceNumber, file }: ManifestEntry): boolean {
    const { facts } = this.#asked;
    if (facts === undefined) return false;
    // Files of format version 1 have no number of their own.
    if (sequenceNumber > 0n && sequenceNumber < facts.minSequenceNumber) return true;
    return file.format === 'puffin' && file.referencedDataFile !== undefined && facts.removedData.has(file.referencedDataFile);
  }
}

/** A condition that whole files satisfy. */
class Where {
  readonly #condition: string;
  readonly #some: FileFilter;
  readonly #others: FileFilter;
  /** All rows of the table. */
  readonly #everything: boolean;

  constructor(metadata: TableMetadata, schema: IcebergSchema, condition: Expression) {
    this.#condition = describeCondition(condition);
    const literal = condition.kind === 'literal' ? condition.literal : undefined;
    this.#everything = literal?.type === 'boolean' && literal.value;
    this.#some = fileFilter(metadata, schema, condition);
    this.#others = fileFilter(metadata, schema, { kind: 'is', operand: condition, test: 'true', negated: true });
  }

  mayHold(manifest: ManifestFile): boolean {
    return this.#some.mayHoldManifest(manifest);
  }

  matches(file: ContentFile): boolean {
    if (this.#everything) return true;
    // What is true of all rows of a partition is true of those that its delete files concern; their metrics say nothing of it.
    if (file.content !== 'data') return !this.#others.mayHoldPartition(file);
    if (!this.#some.mayHoldFile(file)) return false;
    if (!this.#others.mayHoldFile(file)) return true;
    throw new ValidationException(
      `Cannot delete file where some, but not all, rows match filter ${this.#condition}: ${file.path}`,
      'remove rows of whole files and partitions only, or delete the rows one by one',
    );
  }
}

interface PartitionPlace {
  readonly specId: number;
  readonly partition: readonly PartitionValue[];
}

/** The partitions that files are in, to leave manifests out by their summaries. */
class PartitionPlaces {
  readonly #bySpec = new Map<
    number,
    { readonly types: readonly (DataType | undefined)[]; readonly partitions: (readonly PartitionValue[])[] }
  >();

  constructor(metadata: TableMetadata, schema: IcebergSchema, places: readonly PartitionPlace[]) {
    const seen = new Set<string>();
    for (const { specId, partition } of places) {
      const key = partitionKey(specId, partition);
      if (seen.has(key)) continue;
      seen.add(key);
      const known = this.#bySpec.get(specId);
      if (known === undefined) this.#bySpec.set(specId, { types: resultTypes(metadata, schema, specId), partitions: [partition] });
      else known.partitions.push(partition);
    }
  }

  mayBeIn({ specId, partitions: summaries }: ManifestFile): boolean {
    const known = this.#bySpec.get(specId);
    if (known === undefined) return false;
    if (summaries?.length !== known.types.length || known.types.length === 0) return true;
    return known.partitions.some((partition) =>
      summaries.every((summary, place) => mayHoldValue(summary, known.types[place], partition[place])),
    );
  }
}

function mayHoldValue(summary: FieldSummary, type: DataType | undefined, value: PartitionValue): boolean {
  if (value === undefined) return summary.containsNull;
  if (type === undefined) return true;
  const bound = identityBound(type, value);
  if (bound === undefined || Number.isNaN(bound)) return true;
  const lower = summary.lowerBound === undefined ? undefined : boundOf(type, summary.lowerBound);
  const upper = summary.upperBound === undefined ? undefined : boundOf(type, summary.upperBound);
  if (lower === undefined || upper === undefined) return true;
  return compareOrdered(lower, bound) <= 0 && compareOrdered(bound, upper) <= 0;
}

/** Types of a spec's partition values, where they can be told. */
function resultTypes(metadata: TableMetadata, schema: IcebergSchema, specId: number): readonly (DataType | undefined)[] {
  const spec: PartitionSpec | undefined = metadata.partitionSpecs.find((candidate) => candidate.specId === specId);
  return (spec?.fields ?? []).map(({ sourceId, transform }) => {
    const source = fieldById(schema, sourceId);
    return source === undefined || transform.kind === 'unknown' || transform.kind === 'void'
      ? undefined
      : resultType(transform, source.type);
  });
}
