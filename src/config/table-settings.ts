import { z } from 'zod';
import { isServiceError } from '../base/errors.ts';
import { booleanField, choiceField, durationField, integerField, textField, textListField, textMapField } from '../base/setting-fields.ts';
import { type ColumnSettings, columnSettings, maxColumns, schemaOfColumns } from '../ingest/column-settings.ts';
import { letterColumns } from '../ingest/letters/letter-members.ts';
import type { ColumnSource } from '../protocol/sealed-batch.ts';
import type { EvolutionPolicy } from '../protocol/table-needs.ts';
import { defaultTableFormat, type TableFormat, tableFormatNames, traitsOf } from '../table/formats.ts';
import type { ChangeImages } from '../table/keyed.ts';
import type { PartitionFieldDefinition } from '../table/partitioning/transform.ts';
import type { WriteOrderKey } from '../table/partitioning/write-order.ts';
import type { TableDefinition } from '../table/table.ts';
import { type KeyedTableSettings, keyedTableSettings } from './keyed-settings.ts';
import { parsePartitionText, parseSortText } from './partition-item.ts';

const maxTables = 256;
const maxPartitionColumns = 16;
const maxKeyColumns = 16;
const maxOrderColumns = 4;

/** A table the pipeline writes, publishes or maintains. */
export interface TableSettings {
  readonly name: string;
  readonly format: TableFormat;
  /**
   * A URI with a scheme, an absolute directory, or (until `config/` resolves it) a directory below `dataDir`; of a catalog's table its full
   * name there.
   */
  readonly location: string;
  /** `undefined`: the table lies at its location. */
  readonly inCatalog: { readonly catalog: string; readonly namespace: readonly string[]; readonly table: string } | undefined;
  /** What the table is created with when it does not exist; its columns are also what payloads are decoded to. */
  readonly definition: TableDefinition;
  /** Where each column's values come from, by column name. */
  readonly sources: ReadonlyMap<string, ColumnSource>;
  readonly unknownMembers: 'ignore' | 'reject';
  /** The file leaves the columns out: they are those of dead letters. */
  readonly ofLetters: boolean;
  /** What to do when the table is not what is declared here in a way that changes what becomes of records. */
  readonly onDrift: 'fail' | 'warn';
  /** What of the table its records may change. `undefined`: nothing. */
  readonly evolve: EvolutionPolicy | undefined;
  /** The table has one row for each key. `undefined`: one for each record. */
  readonly keyed: KeyedTableSettings | undefined;
  /** The table whose data files it shows; its definition is that one's. `undefined`: it has its own. */
  readonly twinOf: string | undefined;
  /** The keyed table whose deleted keys it remembers. `undefined`: it is listed in the file. */
  readonly tombstonesOf?: string | undefined;
}

const evolveSettings: z.ZodType<EvolutionPolicy> = z.strictObject({
  addColumns: booleanField({
    description:
      'A member of the payload that no column takes becomes a column, and one of a struct a member of it: by the schema that wrote the record, or by its values.',
    default: false,
  }),
  widenTypes: booleanField({
    description:
      'A column takes the wider type of its family that records have, as far as the format reads old files by it: integers, float to double, decimals.',
    default: false,
  }),
  relaxRequired: booleanField({
    description: 'A required column becomes nullable with the first record that has no value for it.',
    default: false,
  }),
  maxColumns: integerField({
    description: 'Columns, members of structs counted, that a table may come to have; further members stay without a place.',
    default: 1_000,
    min: 1,
    max: maxColumns,
  }),
});

/** A list of texts that `parse` reads. */
function itemsField<T>(
  parse: (text: string) => T,
  { description, expected }: { readonly description: string; readonly expected: string },
): z.ZodType<readonly T[]> {
  const item = z.string({ error: expected }).transform((text, context): T => {
    try {
      return parse(text);
    } catch (error) {
      if (!isServiceError(error, 'invalid')) throw error;
      context.addIssue({ code: 'custom', message: `${error.message}; ${error.hint ?? ''}` });
      return z.NEVER;
    }
  });
  return z
    .preprocess(splitItems, z.array(item))
    .refine((items) => items.length <= maxPartitionColumns, { error: `at most ${maxPartitionColumns} entries are allowed` })
    .prefault([])
    .meta({ description, default: [], maxItems: maxPartitionColumns, items: { type: 'string' } });
}

/** One text is split at the commas outside of parentheses. */
function splitItems(raw: unknown): unknown {
  if (typeof raw !== 'string') return raw;
  return raw.split(/,(?![^(]*\))/).flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
}

const table: z.ZodType<TableSettings> = z
  .strictObject({
    name: textField({
      description: 'Name of the table in this pipeline, on the command line, in metrics and in topic names.',
      maxLength: 200,
      pattern: /^[a-zA-Z0-9_][a-zA-Z0-9._-]*$/,
      patternHint: 'is no table name (letters, digits, dots, underscores and hyphens)',
    }),
    format: choiceField(tableFormatNames, { description: 'Table format.', default: defaultTableFormat }),
    path: textField({
      description: 'Where it lies: a directory below `dataDir`, an absolute directory, or a URI (`file:///…`). Default: `tables/<name>`.',
      maxLength: 4_096,
    }).optional(),
    catalog: textField({
      description: 'Catalog (of `catalogs`) that the table is in, instead of a path. Only for Iceberg.',
      maxLength: 200,
    }).optional(),
    identifier: textField({
      description: 'Name of the table in its catalog with its namespace, parts separated by dots. Default: `default.<name>`.',
      maxLength: 1_000,
      pattern: /^[^.]+(\.[^.]+)*$/,
      patternHint: 'is no name of a table',
    }).optional(),
    columns: z.array(columnSettings).min(1, { error: 'must have at least one column' }).max(maxColumns).optional().meta({
      description:
        'Columns in order. The table is created with them when it does not exist. Only the table of `ingest.deadLetters.table` may leave them out, and a twin has none (`twinOf`).',
    }),
    twinOf: textField({
      description:
        'The Delta table that this Iceberg table shows in its own format, over the same data files: it has the columns and the partitioning of that table, and no route.',
      maxLength: 200,
    }).optional(),
    partitionBy: textListField({ description: 'Columns the table is partitioned by.', default: [], maxItems: maxPartitionColumns }),
    partitioning: itemsField(parsePartitionText, {
      description:
        'Partitioning by transforms, instead of `partitionBy`: `origin`, `day(ts)`, `hour(ts)`, `month(ts)`, `year(ts)`, `bucket(16, id)`, `truncate(4, city)`. Only for Iceberg.',
      expected: 'expected a column or a transform such as day(ts)',
    }),
    sortBy: itemsField(parseSortText, {
      description:
        'Sort order that the table is created with: columns or transforms, each with `asc` or `desc` and `nulls first` or `nulls last`. Who rewrites or writes sorted files goes by it; files that ingest appends are in the order of their records, and say so. Only for Iceberg.',
      expected: 'expected a column or a transform, such as day(ts) desc',
    }),
    identifierColumns: textListField({
      description: 'Columns that tell rows apart: updates in change feeds are paired by them. Only for Iceberg.',
      default: [],
      maxItems: maxPartitionColumns,
    }),
    properties: textMapField({
      description: 'Properties the table is created with. `delta.enableChangeDataFeed` is true unless it is set here.',
      default: {},
    }),
    mode: choiceField(['append', 'upsert', 'patch'], {
      description:
        '`append`: each record is a row. `upsert`: each key has one row, that of its last record, and none once it is deleted (docs/guides/keyed-tables.md). `patch`: as `upsert`, and a member that a record does not have leaves the column as it is; what else is said of `upsert` holds for it too.',
      default: 'append',
    }),
    keyColumns: textListField({
      description:
        'Columns that make up the key of a table of mode `upsert`. They are required, and of an integer, decimal, string, date or timestamp type.',
      default: [],
      maxItems: maxKeyColumns,
    }),
    orderBy: textListField({
      description:
        'Columns of a table of mode `upsert` that say which of two records of a key is the later one, such as one of `member: __lsn`: required, of types that keys may have. Of equal ones the one that comes later counts. Default: the order of the topic.',
      default: [],
      maxItems: maxOrderColumns,
    }),
    deleteWhen: textField({
      description:
        "When a record deletes the row of its key: `operation`, as its change event says (default with `envelope: debezium`); `tombstone`, when it has no value; `never` (default otherwise); or a condition over its columns, such as `status = 'gone'`.",
      maxLength: 100_000,
    }).optional(),
    onRepeatedKeys: choiceField(['fail', 'keep-last'], {
      description:
        'When a table that becomes one of mode `upsert` has several rows of one key: `fail` (default) stops its ingest, naming some; `keep-last` deletes all but the last of each key in a version of its own: by `orderBy`, of equal rows and without it the one in the file that was added last, and there the one furthest back.',
    }).optional(),
    onTruncate: choiceField(['apply', 'reject', 'ignore'], {
      description:
        'What a change event that truncates its table (`op: t`) does to a table of mode `upsert`: `apply` ends all rows, `reject` (default) makes it a dead letter, `ignore` passes it over; the rows stay then, as with Debezium’s own sinks unless they are told otherwise.',
    }).optional(),
    tombstoneRetention: durationField({
      description:
        'How long a delete of a key, known or not, is remembered with its order, so that a late record from before it does not bring the row back. Needs `orderBy`. Default: the order of a key ends with its row.',
      min: '1h',
      max: '3650d',
    }).optional(),
    tombstoneTable: textField({
      description:
        'Name of the table that remembers the deletes, which lies beside its table and is made by the pipeline. Default: `<name>__deletes`.',
      maxLength: 200,
      pattern: /^[a-zA-Z0-9_][a-zA-Z0-9._-]*$/,
      patternHint: 'is no table name (letters, digits, dots, underscores and hyphens)',
    }).optional(),
    changeImages: choiceField(['stored', 'derived'], {
      description:
        'How a table of mode `upsert` tells what changed rows were before. `stored` (default): rows before and after are written a second time, for whoever reads changes. `derived`: nothing is, and commits take less; feeds tell updates by the key, other readers of changes see a delete and an insert. Only for Delta.',
    }).optional(),
    unknownMembers: choiceField(['ignore', 'reject'], {
      description: 'A member of the JSON value that no column takes: `ignore` it, or `reject` the record to the dead letters.',
      default: 'ignore',
    }),
    onDrift: choiceField(['fail', 'warn'], {
      description:
        'When the table is not what is declared here (a column is missing, required or of another type, other partitioning): `fail` stops its ingest, naming every difference; `warn` names them in log and status and takes the table as it is. Added nullable columns and other properties are always named and taken.',
      default: 'fail',
    }),
    evolve: evolveSettings
      .prefault({})
      .meta({ description: 'What of the table its records may change. Every change is a version of the table.' }),
  })
  .transform((raw, context): TableSettings => {
    const report: Report = (path, message) => {
      context.addIssue({ code: 'custom', path: [...path], message });
    };
    const columns = raw.columns ?? letterColumns;
    checkColumns(columns, raw.partitionBy, { inFiles: traitsOf[raw.format].partitionsInFiles, report });
    checkFormatSettings({ ...raw, columns }, report);
    const keyed = keyedTableSettings({ ...raw, columns }, report);
    const identifierColumns = identifiersOf(raw, keyed);
    if (raw.twinOf !== undefined) checkTwinSettings(raw, report);
    const parts = (raw.identifier ?? `default.${raw.name}`).split('.');
    const table = parts.at(-1) ?? raw.name;
    const { catalog } = raw;
    return {
      name: raw.name,
      format: raw.format,
      location: catalog === undefined ? (raw.path ?? `tables/${raw.name}`) : [catalog, ...parts].join('.'),
      inCatalog: catalog === undefined ? undefined : { catalog, namespace: parts.slice(0, -1), table },
      definition: {
        schema: schemaOfColumns(columns),
        partitionColumns: raw.partitionBy,
        properties: raw.properties,
        ...(raw.partitioning.length === 0 ? {} : { partitioning: raw.partitioning }),
        ...(identifierColumns.length === 0 ? {} : { identifierColumns }),
        ...(raw.sortBy.length === 0 ? {} : { sortOrder: raw.sortBy }),
      },
      sources: new Map(columns.map(({ name, source }) => [name, source])),
      unknownMembers: raw.unknownMembers,
      ofLetters: raw.columns === undefined && raw.twinOf === undefined,
      onDrift: raw.onDrift,
      evolve: raw.evolve.addColumns || raw.evolve.widenTypes || raw.evolve.relaxRequired ? raw.evolve : undefined,
      keyed,
      twinOf: raw.twinOf,
    };
  });

export const tableList: z.ZodType<readonly TableSettings[]> = z
  .array(table)
  .max(maxTables)
  .prefault([])
  .meta({ description: 'The tables of the pipeline.', default: [], maxItems: maxTables });

type Report = (path: readonly (string | number)[], message: string) => void;

/** Changes of a keyed table are told by its key. */
function identifiersOf(
  { format, identifierColumns }: { readonly format: TableFormat; readonly identifierColumns: readonly string[] },
  keyed: KeyedTableSettings | undefined,
): readonly string[] {
  return keyed !== undefined && traitsOf[format].settings.includes('identifierColumns') ? keyed.keyColumns : identifierColumns;
}

/** What only some formats have, and what excludes each other. */
function checkFormatSettings(
  raw: {
    readonly format: TableFormat;
    readonly path?: string | undefined;
    readonly catalog?: string | undefined;
    readonly identifier?: string | undefined;
    readonly twinOf?: string | undefined;
    readonly columns: readonly ColumnSettings[];
    readonly partitionBy: readonly string[];
    readonly partitioning: readonly PartitionFieldDefinition[];
    readonly identifierColumns: readonly string[];
    readonly sortBy: readonly WriteOrderKey[];
    readonly changeImages?: ChangeImages | undefined;
  },
  report: Report,
): void {
  for (const key of ['catalog', 'identifier', 'partitioning', 'identifierColumns', 'sortBy', 'twinOf', 'changeImages'] as const) {
    const formats = tableFormatNames.filter((format) => traitsOf[format].settings.includes(key));
    const isSet = raw[key] !== undefined && raw[key].length > 0;
    if (isSet && !formats.includes(raw.format)) report([key], `is only for tables of format ${formats.join(', ')}`);
  }
  if (raw.catalog !== undefined && raw.path !== undefined) report(['path'], 'is chosen by the catalog of the table');
  if (raw.catalog === undefined && raw.identifier !== undefined) report(['identifier'], 'needs a catalog');
  if (raw.partitionBy.length > 0 && raw.partitioning.length > 0)
    report(['partitioning'], 'takes the place of partitionBy; set one of them');
  const has = (name: string | undefined): boolean => raw.columns.some((candidate) => candidate.name === name);
  for (const key of ['partitioning', 'sortBy'] as const)
    raw[key].forEach(({ source }, index) => {
      if (!has(source[0])) report([key, index], `"${source[0] ?? ''}" is no column of the table`);
    });
  raw.identifierColumns.forEach((name, index) => {
    if (!has(name)) report(['identifierColumns', index], `"${name}" is no column of the table`);
    else if (raw.columns.some((candidate) => candidate.name === name && candidate.nullable))
      report(['identifierColumns', index], `"${name}" must be required (nullable: false)`);
  });
}

/** What a twin has of its leader, or for its sake. */
function checkTwinSettings(
  raw: {
    readonly columns?: readonly ColumnSettings[] | undefined;
    readonly partitionBy: readonly string[];
    readonly partitioning: readonly unknown[];
    readonly identifierColumns: readonly string[];
    readonly sortBy: readonly unknown[];
    readonly properties: Readonly<Record<string, string>>;
    readonly evolve: EvolutionPolicy;
    readonly mode: 'append' | 'upsert' | 'patch';
  },
  report: Report,
): void {
  if (raw.mode !== 'append') report(['mode'], 'is that of the table that twinOf names; leave it out');
  if (raw.columns !== undefined) report(['columns'], 'are those of the table that twinOf names; leave them out');
  for (const key of ['partitionBy', 'partitioning', 'identifierColumns', 'sortBy'] as const)
    if (raw[key].length > 0) report([key], 'is that of the table that twinOf names; leave it out');
  const { addColumns, widenTypes, relaxRequired } = raw.evolve;
  if (addColumns || widenTypes || relaxRequired) report(['evolve'], 'is that of the table that twinOf names; leave it out');
  for (const key of Object.keys(raw.properties))
    if (key === 'gc.enabled' || key === 'schema.name-mapping.default' || key.startsWith('tidewater.'))
      report(['properties', key], 'is set by the pipeline, for the data files are another table’s');
  if (raw.properties['format-version'] === '1') report(['properties', 'format-version'], 'a twin has format version 2 or 3');
}

function checkColumns(
  columns: readonly ColumnSettings[],
  partitionBy: readonly string[],
  { inFiles, report }: { readonly inFiles: boolean; readonly report: Report },
): void {
  const seen = new Map<string, string>();
  columns.forEach(({ name }, index) => {
    const earlier = seen.get(name.toLowerCase());
    // Delta compares column names without regard to case.
    if (earlier !== undefined) report(['columns', index, 'name'], `"${name}" repeats the column "${earlier}"`);
    seen.set(name.toLowerCase(), name);
  });
  partitionBy.forEach((name, index) => {
    const type = columns.find((candidate) => candidate.name === name)?.type;
    if (type === undefined) report(['partitionBy', index], `"${name}" is no column of the table`);
    else if (['struct', 'list', 'map', 'binary'].includes(type.kind))
      report(['partitionBy', index], `"${name}" has type ${type.kind}, which no partition can have`);
  });
  if (new Set(partitionBy).size !== partitionBy.length) report(['partitionBy'], 'names a column twice');
  if (!inFiles && partitionBy.length > 0 && partitionBy.length >= columns.length)
    report(['partitionBy'], 'leaves no column for the data files');
}
