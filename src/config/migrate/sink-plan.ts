import type { DataType } from '../../schema/types.ts';
import type { TableFormat } from '../../table/formats.ts';
import type { YamlEntry, YamlScalar } from '../pipeline-yaml.ts';

/** A column that is to be declared. */
export interface PlannedColumn {
  readonly name: string;
  readonly type: DataType;
  /** What of the record fills it. Default: the member of its name. */
  readonly from?: 'topic' | 'partition' | 'offset' | 'timestamp' | 'headers' | 'key' | undefined;
  readonly member?: string | undefined;
  readonly required?: boolean | undefined;
  readonly note?: string | undefined;
}

/** A condition of records. */
export interface PlannedCondition {
  readonly sql: string;
  /** Columns that it names; those from the record are declared for it where they are not. */
  readonly needs: readonly PlannedColumn[];
  readonly note: string;
}

/** A table of the sink, and the topics that it takes. */
export interface PlannedTable {
  readonly name: string;
  readonly format: TableFormat;
  /** `path`, or `catalog` and `identifier`. */
  readonly place: readonly YamlEntry[];
  readonly topics: readonly string[];
  readonly topicPattern?: { readonly pattern: string; readonly note: string } | undefined;
  readonly condition?: PlannedCondition | undefined;
  readonly identifierColumns: readonly string[];
  /** Columns or transforms, as the format's setting takes them. */
  readonly partitionedBy: readonly string[];
  readonly properties: readonly (readonly [name: string, value: YamlScalar, note: string])[];
  /** Whether the sink let records add columns. */
  readonly evolves: boolean;
  /** Columns that the sink adds itself. */
  readonly added: readonly PlannedColumn[];
  /** Why no row may be written before a person has looked: what would be written is not what the sink writes. */
  readonly doubts: readonly string[];
  /** What stands before the table, for a person to read. */
  readonly remarks: readonly string[];
}

/** What a sink's options come to. */
export interface SinkPlan {
  /** What the sink is called, for people. */
  readonly title: string;
  readonly catalogs: readonly YamlEntry[];
  readonly tables: readonly PlannedTable[];
  /** Of `ingest`. */
  readonly ingest: readonly YamlEntry[];
  /** Of `ingest.deadLetters`. */
  readonly deadLetters: readonly YamlEntry[];
  /** Tables that take no topics. */
  readonly otherTables: readonly YamlEntry[][];
  /** Consumer group whose offsets tell how far the sink is. */
  readonly group: string;
}
