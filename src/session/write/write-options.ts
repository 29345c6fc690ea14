import { AnalysisException } from '../../base/analysis-exception.ts';
import { unsupported } from '../../base/unsupported-feature.ts';
import { parseExpression } from '../../expr/parse/parse-expression.ts';
import { type TableFormat, tableFormatNames, traitsOf } from '../../table/formats.ts';
import type { CommitOptions, WriteMode, WriteRequest } from '../../table/row-operations.ts';
import type { QueryableTable } from '../../table/table.ts';
import { markVersion, sessionCommit } from '../commands/session-commit.ts';
import type { SessionConf } from '../conf/session-conf.ts';
import { invalidOption, unknownOption } from '../session-errors.ts';

/** Options of writes, as Spark spells them; found without regard to case. */
export const knownOptions = [
  'mergeSchema',
  'merge-schema',
  'overwriteSchema',
  'replaceWhere',
  'partitionOverwriteMode',
  'userMetadata',
  'txnAppId',
  'txnVersion',
  'optimizeWrite',
  'autoCompact',
  'compression',
  'path',
  'branch',
  'write-format',
  'target-file-size-bytes',
  'fanout-enabled',
  'check-nullability',
  'check-ordering',
  'distribution-mode',
] as const;

/** Why an option changes nothing that one can see here. */
export const idleWriteOptions: Readonly<Partial<Record<OptionName, string>>> = {
  'fanout-enabled': 'how Spark divides a write among its tasks',
  'distribution-mode': 'how Spark divides a write among its tasks',
  'check-nullability': 'values are checked in any case: a NULL in a required column is refused',
  'check-ordering': 'columns are found by their names',
};

/** Options that would change what is written, of tables of the other format. */
const ownOptions: Readonly<Record<TableFormat, readonly OptionName[]>> = {
  delta: ['overwriteSchema', 'optimizeWrite', 'autoCompact'],
  iceberg: ['write-format', 'target-file-size-bytes'],
};

/** Options with this prefix are kept in the summary of the snapshot that the write makes. */
const summaryPrefix = 'snapshot-property.';

type OptionName = (typeof knownOptions)[number];

const switches: ReadonlySet<OptionName> = new Set<OptionName>([
  'mergeSchema',
  'merge-schema',
  'overwriteSchema',
  'optimizeWrite',
  'autoCompact',
]);

/** Save modes under the names that writers take. */
export type SaveMode = 'append' | 'overwrite' | 'ignore' | 'error' | 'errorifexists';

/** The options of one write, checked by name. Table properties (`delta.…`) are for tables that the write creates. */
export class WriteOptions {
  readonly #values: ReadonlyMap<string, string>;
  readonly #summary: Readonly<Record<string, string>>;
  readonly properties: Readonly<Record<string, string>>;

  /** @throws AnalysisException `UNKNOWN_OPTION` with the nearest one, `DELTA_ILLEGAL_OPTION` for a switch that is neither on nor off. */
  constructor(entries: Iterable<readonly [string, string]>) {
    const values = new Map<string, string>();
    const properties: Record<string, string> = {};
    const summary: Record<string, string> = {};
    for (const [name, value] of entries) {
      if (name.toLowerCase().startsWith(summaryPrefix)) summary[name.slice(summaryPrefix.length)] = value;
      else if (/^(delta|iceberg|write|commit|history|format-version|gc)([.]|$)/i.test(name)) properties[name] = value;
      else values.set(...checkedOption(name, value));
    }
    this.#values = values;
    this.properties = properties;
    this.#summary = summary;
  }

  /** The table, or the branch of it that the option names. @throws AnalysisException `DELTA_ILLEGAL_OPTION` for a table without branches. */
  branchOf(table: QueryableTable): QueryableTable {
    this.#refuseForeign(table);
    const branch = this.#find('branch');
    if (branch === undefined) return table;
    if (table.onBranch === undefined) throw invalidOption('branch', branch, `table ${table.name} has no branches`);
    return table.onBranch(branch);
  }

  get path(): string | undefined {
    return this.#find('path');
  }

  get compression(): string | undefined {
    return this.#find('compression');
  }

  /** What every commit carries. @throws AnalysisException `DELTA_ILLEGAL_OPTION` for half an idempotency mark. */
  commitOptions(conf: SessionConf): CommitOptions {
    const session = sessionCommit(conf);
    const userMetadata = this.#find('userMetadata') ?? session.userMetadata;
    const appId = this.#find('txnAppId');
    const version = this.#find('txnVersion');
    if ((appId === undefined) !== (version === undefined)) {
      throw invalidOption(appId === undefined ? 'txnAppId' : 'txnVersion', '', 'txnAppId and txnVersion must be given together');
    }
    const summary = { ...session.summary, ...this.#summary };
    if (appId === undefined || version === undefined) return { ...session, userMetadata, summary };
    return { userMetadata, summary, zone: session.zone, idempotency: { appId, version: markVersion('txnVersion', version) } };
  }

  /** How the rows get into a table that is there. */
  tableOptions(
    conf: SessionConf,
  ): Pick<WriteRequest, 'mergeSchema' | 'overwriteSchema' | 'optimizeWrite' | 'optimizedFileBytes' | 'autoCompact' | 'fileFormat'> {
    return {
      ...this.fileOptions(conf),
      mergeSchema:
        this.#switch('mergeSchema') ?? this.#switch('merge-schema') ?? conf.switch('spark.databricks.delta.schema.autoMerge.enabled'),
      overwriteSchema: this.#switch('overwriteSchema'),
      autoCompact: autoCompactOf(conf, this.#switch('autoCompact')),
    };
  }

  /** Whether rows come into few, large files. The option counts more than the session; what neither says the table decides. */
  fileOptions(conf: SessionConf): Pick<WriteRequest, 'optimizeWrite' | 'optimizedFileBytes' | 'fileFormat'> {
    if (this.compression !== undefined) {
      throw unsupported(
        'the option "compression" of a write to a table',
        'set the property of the table: delta.parquet.compression.codec, or write.parquet.compression-codec',
      );
    }
    return {
      optimizeWrite: this.#switch('optimizeWrite') ?? conf.switch('spark.databricks.delta.optimizeWrite.enabled'),
      optimizedFileBytes: this.#bytes('target-file-size-bytes') ?? conf.bytes('spark.databricks.delta.optimizeWrite.binSize'),
      fileFormat: this.#find('write-format'),
    };
  }

  /**
   * What a save mode replaces. Dynamic partition overwrite may be asked for by option or for the session.
   *
   * @throws AnalysisException `DELTA_ILLEGAL_OPTION`, `DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE` (42613) of options that contradict,
   * `ParseException` for a `replaceWhere` that is no condition.
   */
  writeMode(mode: SaveMode, conf: SessionConf, partitioned: boolean): WriteMode {
    const replaceWhere = this.#find('replaceWhere');
    if (mode !== 'overwrite') return { kind: 'append' };
    const asked = this.#find('partitionOverwriteMode') ?? conf.find('spark.sql.sources.partitionOverwriteMode') ?? 'static';
    if (!/^(static|dynamic)$/i.test(asked)) throw invalidOption('partitionOverwriteMode', asked, 'it must be static or dynamic');
    const option = this.#find('partitionOverwriteMode');
    if (replaceWhere !== undefined && option?.toLowerCase() === 'dynamic') throw replaceWhereWithDynamic();
    const dynamic = asked.toLowerCase() === 'dynamic' && partitioned && replaceWhere === undefined;
    if (dynamic) return { kind: 'overwrite-partitions' };
    return replaceWhere === undefined ? { kind: 'overwrite' } : { kind: 'overwrite', replaceWhere: parseExpression(replaceWhere) };
  }

  /** @throws AnalysisException `DELTA_ILLEGAL_OPTION` for what the table's format does not have. */
  #refuseForeign({ format }: QueryableTable): void {
    for (const other of tableFormatNames.filter((name) => name !== format)) {
      const foreign = ownOptions[other].find((name) => this.#values.has(name));
      if (foreign !== undefined)
        throw invalidOption(foreign, this.#values.get(foreign) ?? '', `it is one of ${traitsOf[other].title} tables`);
    }
    const [summary] = Object.keys(this.#summary);
    if (!traitsOf[format].keepsCommitProperties && summary !== undefined)
      throw invalidOption(`${summaryPrefix}${summary}`, this.#summary[summary] ?? '', 'it is one of Apache Iceberg tables');
  }

  #find(name: OptionName): string | undefined {
    return this.#values.get(name);
  }

  #bytes(name: OptionName): number | undefined {
    const value = this.#find(name);
    if (value === undefined) return undefined;
    if (!/^[1-9]\d{0,14}$/.test(value)) throw invalidOption(name, value, 'it must be a number of bytes');
    return Number(value);
  }

  #switch(name: OptionName): boolean | undefined {
    const value = this.#find(name);
    return value === undefined ? undefined : value.toLowerCase() === 'true';
  }
}

/** What tables of this session get when they are created: `spark.databricks.delta.properties.defaults.*`. */
export function defaultProperties(conf: SessionConf): Readonly<Record<string, string>> {
  const defaults = conf.below('spark.databricks.delta.properties.defaults.');
  return Object.fromEntries([...defaults].map(([name, value]) => [`delta.${name}`, value]));
}

/** Auto compaction as the writer's option, else the session asks for it; what is left out the table decides. */
export function autoCompactOf(conf: SessionConf, option?: boolean): NonNullable<WriteRequest['autoCompact']> {
  const value = conf.find('spark.databricks.delta.autoCompact.enabled')?.toLowerCase();
  const minNumFiles = conf.find('spark.databricks.delta.autoCompact.minNumFiles');
  return {
    enabled: option ?? (value === undefined ? undefined : value !== 'false'),
    minNumFiles: minNumFiles === undefined ? undefined : Number(minNumFiles),
    maxFileBytes: conf.bytes('spark.databricks.delta.autoCompact.maxFileSize'),
  };
}

/** @throws AnalysisException `DELTA_ILLEGAL_OPTION` naming the modes there are. */
export function saveModeOf(mode: string): SaveMode {
  const lower = mode.toLowerCase();
  switch (lower) {
    case 'append':
    case 'overwrite':
    case 'ignore':
    case 'error':
    case 'errorifexists':
      return lower;
    case 'default':
      return 'errorifexists';
    default:
      throw invalidOption('mode', mode, "accepted save modes are 'overwrite', 'append', 'ignore', 'error', 'errorifexists', 'default'");
  }
}

function checkedOption(name: string, value: string): readonly [OptionName, string] {
  const found = knownOptions.find((option) => option.toLowerCase() === name.toLowerCase());
  if (found === undefined) throw unknownOption(name, 'this write', knownOptions);
  if (switches.has(found) && !/^(true|false)$/i.test(value)) throw invalidOption(name, value, 'it must be true or false');
  return [found, value];
}

function replaceWhereWithDynamic(): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE',
    message: "A 'replaceWhere' expression and 'partitionOverwriteMode'='dynamic' cannot both be set in the DataFrameWriter options.",
    hint: 'leave out one of them',
  });
}
