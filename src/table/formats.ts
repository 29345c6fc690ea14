export type TableFormat = 'delta' | 'iceberg';

/** What a table's configuration has for some formats only. */
type FormatSetting = 'catalog' | 'identifier' | 'partitioning' | 'identifierColumns' | 'sortBy' | 'twinOf' | 'changeImages';

/** What has to be known of a format before a table of it is open; open tables have `capabilities`. A further format has a row below. */
interface FormatTraits {
  readonly title: string;
  /** How Spark calls what writes a stream to such a table. */
  readonly streamSink: string;
  readonly settings: readonly FormatSetting[];
  /** A table of another format can show its tables, over the same files (`twinOf`). */
  readonly leadsTwins: boolean;
  /** Readers and writers of DataFrames are given a table's name; what has a slash is a place. */
  readonly loadedByName: boolean;
  readonly partitionTransforms: boolean;
  /** Columns that partition a table are in its data files too, and may be all there are. */
  readonly partitionsInFiles: boolean;
  /** Integers of 8 and 16 bits; without them a column declared so has 32. */
  readonly smallIntegers: boolean;
  /** A type of times of day. */
  readonly timesOfDay: boolean;
  /** Members of structs within lists and maps may be NOT NULL. */
  readonly requiredWithin: boolean;
  /** Columns may be called anything; else blanks, commas and the like need a setting of the table. */
  readonly anyNames: boolean;
  /** Names, in small letters, that readers have for columns of their own: some read no table that has a column of such a name. */
  readonly reservedNames: readonly string[];
  readonly columnIds: boolean;
  /** Descriptions show the name with its catalog, the location as the metadata has it, and the comment in one place only. */
  readonly describedByCatalog: boolean;
  /** Rows are changed through views that show columns of the table; else only all of them are deleted so. */
  readonly changedThroughViews: boolean;
  /** Queries that give the values of an UPDATE are asked once, before its rows. */
  readonly asksValuesOnce: boolean;
  /** Faults of statements come in error classes of the format's own. */
  readonly ownErrorClasses: boolean;
  /** What was appended between two snapshots is read as rows (`start-snapshot-id`). */
  readonly readsAppends: boolean;
  /** A commit keeps properties that its statement gives it (`snapshot-property.…`). */
  readonly keepsCommitProperties: boolean;
}

export const traitsOf: Readonly<Record<TableFormat, FormatTraits>> = {
  delta: {
    title: 'Delta Lake',
    streamSink: 'DeltaSink',
    settings: ['changeImages'],
    leadsTwins: true,
    loadedByName: false,
    partitionTransforms: false,
    partitionsInFiles: false,
    smallIntegers: true,
    timesOfDay: false,
    requiredWithin: false,
    anyNames: false,
    reservedNames: [],
    columnIds: false,
    describedByCatalog: false,
    changedThroughViews: true,
    asksValuesOnce: true,
    ownErrorClasses: true,
    readsAppends: false,
    keepsCommitProperties: false,
  },
  iceberg: {
    title: 'Apache Iceberg',
    streamSink: 'IcebergSink',
    settings: ['catalog', 'identifier', 'partitioning', 'identifierColumns', 'sortBy', 'twinOf'],
    leadsTwins: false,
    loadedByName: true,
    partitionTransforms: true,
    partitionsInFiles: true,
    smallIntegers: false,
    timesOfDay: true,
    requiredWithin: true,
    anyNames: true,
    // https://iceberg.apache.org/spec/#reserved-field-ids, `_partition`, and what Spark adds to the rows of a changelog.
    reservedNames: [
      '_file',
      '_pos',
      '_deleted',
      '_spec_id',
      '_partition',
      '_row_id',
      '_last_updated_sequence_number',
      '_change_type',
      '_change_ordinal',
      '_commit_snapshot_id',
    ],
    columnIds: true,
    describedByCatalog: true,
    changedThroughViews: false,
    asksValuesOnce: false,
    ownErrorClasses: false,
    readsAppends: true,
    keepsCommitProperties: true,
  },
};

/** Of tables that are made or opened without naming one. */
export const defaultTableFormat: TableFormat = 'delta';

export function isTableFormat(name: unknown): name is TableFormat {
  return typeof name === 'string' && Object.hasOwn(traitsOf, name);
}

export const tableFormatNames: readonly TableFormat[] = Object.keys(traitsOf).filter(isTableFormat);
