import { conjunction, conjuncts, type Expression } from '../../expr/expression.ts';
import { columnsOf } from '../../expr/expression-tree.ts';
import type { ColumnFacts, FileFacts } from '../../expr/pruning/file-facts.ts';
import { filePruner } from '../../expr/pruning/may-match.ts';
import type { BoundValue } from '../../schema/statistics.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import { type AddFile, physicalRows } from '../actions.ts';
import { physicalPath } from '../column-mapping/physical-schema.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { wasFloat } from '../type-changes.ts';
import { partitionBound } from './bound-value.ts';
import { FileStatistics } from './file-statistics.ts';
import { type PartitionColumn, partitionsOf, partitionValueOf } from './partition-columns.ts';

/** The live files that may hold a row of the bound filter, by partition values and statistics; all without one. Ordered by path. */
export function selectFiles(snapshot: DeltaSnapshot, filter: Expression | undefined): readonly AddFile[] {
  if (filter === undefined) return inOrder(snapshot.files());
  return inOrder([...snapshot.files()].filter(fileTest(snapshot, filter)));
}

/** What the log says of all rows of a file. */
type DescribedFile = Pick<AddFile, 'stats' | 'partitionValues' | 'path'>;

/** Whether a file may hold a row of a condition that is bound to the snapshot's schema. */
export function fileTest(snapshot: DeltaSnapshot, filter: Expression): (file: DescribedFile) => boolean {
  const paths = columnsOf(filter).map(({ path }) => path);
  const knowledge = new TableKnowledge(snapshot, paths);
  // Conditions on partition columns first: they need no statistics to be parsed.
  const conditions = conjuncts(filter);
  const needing = new Set(conditions.filter((condition) => knowledge.needsStatistics(condition)));
  const cheap = conjunction(conditions.filter((condition) => !needing.has(condition)));
  const dear = conjunction([...needing]);
  const tests = [cheap, dear].flatMap((condition) => (condition === undefined ? [] : [filePruner(condition)]));
  return (file) => {
    const facts = knowledge.of(file);
    return tests.every((mayMatch) => mayMatch(facts));
  };
}

/** By the UTF-8 bytes of the path, so that scans of one version are the same everywhere. */
function inOrder(files: Iterable<AddFile>): readonly AddFile[] {
  return Array.from(files, (file) => ({ file, key: Buffer.from(file.storedPath) }))
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .map(({ file }) => file);
}

/** A column: where its facts come from. */
type KnownColumn =
  | { readonly kind: 'partition'; readonly column: PartitionColumn }
  | { readonly kind: 'stored'; readonly path: readonly string[]; readonly field: Field };

/** What the log tells of some columns, file by file. */
export class TableKnowledge {
  readonly #columns = new Map<string, KnownColumn>();
  /** Partition values repeat from file to file. */
  readonly #partitionFacts = new Map<string, ColumnFacts>();

  constructor(snapshot: DeltaSnapshot, paths: readonly (readonly string[])[]) {
    const partitions = partitionsOf(snapshot);
    for (const path of paths) {
      const known = knownColumn(snapshot, partitions, path);
      if (known !== undefined) this.#columns.set(keyOf(path), known);
    }
  }

  needsStatistics(condition: Expression): boolean {
    return columnsOf(condition).some(({ path }) => this.#columns.get(keyOf(path))?.kind !== 'partition');
  }

  of(file: DescribedFile): FileFacts {
    const rowCount = physicalRows(file.stats);
    // Parsed only when a condition gets as far as a column that needs it.
    const statistics = new FileStatistics(file.stats);
    return {
      rowCount,
      column: (path) => {
        const known = this.#columns.get(keyOf(path));
        if (known === undefined) return undefined;
        return known.kind === 'partition' ? this.#partition(known.column, file) : storedFacts(known, statistics, rowCount);
      },
    };
  }

  #partition(column: PartitionColumn, file: DescribedFile): ColumnFacts {
    const value = partitionValueOf(file.partitionValues, column, file.path);
    const key = `${column.name}\0${value === undefined ? 'null' : `=${value}`}`;
    const present = this.#partitionFacts.get(key);
    if (present !== undefined) return present;
    const facts = partitionFacts(value, column.type);
    this.#partitionFacts.set(key, facts);
    return facts;
  }
}

function partitionFacts(value: string | undefined, type: DataType): ColumnFacts {
  if (value === undefined) return { allNull: true };
  const bound = partitionBound(value, type);
  return { min: bound, max: bound, nullCount: 0, mayHoldNaN: Number.isNaN(bound) };
}

function storedFacts(
  column: { readonly path: readonly string[]; readonly field: Field },
  statistics: FileStatistics,
  rowCount: number | undefined,
): ColumnFacts {
  const { path, field } = column;
  const { min, max, nullCount, mayBeCut } = statistics.leaf(path, field.type);
  return {
    min: wasFloat(field) ? outward(min, Math.min) : min,
    max: wasFloat(field) ? outward(max, Math.max) : max,
    nullCount,
    allNull: nullCount !== undefined && rowCount !== undefined && rowCount > 0 && nullCount >= rowCount,
    mayBeTruncated: mayBeCut,
  };
}

/** A bound as it is written, and as the nearest FLOAT, which the file may hold: whichever is farther out. */
function outward(bound: BoundValue | undefined, farther: (a: number, b: number) => number): BoundValue | undefined {
  return typeof bound === 'number' ? farther(bound, Math.fround(bound)) : bound;
}

function knownColumn(snapshot: DeltaSnapshot, partitions: readonly PartitionColumn[], path: readonly string[]): KnownColumn | undefined {
  const column = path.length === 1 ? partitions.find(({ name }) => name === path[0]) : undefined;
  if (column !== undefined) return { kind: 'partition', column };
  const field = leafField(snapshot.schema, path);
  return field === undefined ? undefined : { kind: 'stored', path: physicalPath(snapshot.schema, path, snapshot.mapping), field };
}

/** A leaf reached through structs alone. */
function leafField(schema: StructType, path: readonly string[]): Field | undefined {
  let type: DataType = schema;
  let field: Field | undefined;
  for (const name of path) {
    if (type.kind !== 'struct') return undefined;
    field = type.fields.find((candidate) => candidate.name === name);
    if (field === undefined) return undefined;
    type = field.type;
  }
  return field;
}

function keyOf(path: readonly string[]): string {
  return path.join('\0');
}
