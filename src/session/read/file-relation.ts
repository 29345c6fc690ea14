import { AnalysisException } from '../../base/analysis-exception.ts';
import { datePattern } from '../../expr/functions/date-pattern.ts';
import { jsonValueSql } from '../../expr/functions/json-value.ts';
import { castSql } from '../../expr/sql/cast-sql.ts';
import { quoteName, sqlText, typeSql } from '../../expr/sql/engine-sql.ts';
import { toInstantSql, toLocalSql, zoneSqlOf } from '../../expr/sql/zone-sql.ts';
import type { ZoneRule } from '../../expr/time-zone.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { FileSource } from '../plan/plan.ts';
import type { Execution } from '../run/execution.ts';
import { invalidOption, pathNotFound } from '../session-errors.ts';
import { listDataFiles } from './list-data-files.ts';

/**
 * Files that are no table, as the engine reads them. Directories are read with all files below them, hidden ones (`_…`, `.…`) left out;
 * directories `column=value` add columns.
 *
 * @throws AnalysisException `PATH_NOT_FOUND`, `UNABLE_TO_INFER_SCHEMA` for a directory without files.
 */
export async function fileRelation(execution: Execution, source: FileSource): Promise<Relation> {
  const files: string[] = [];
  for (const path of source.paths) {
    const found = await listDataFiles(execution.runtime.openStore, execution.runtime.tables.absolutePath(path), execution.signal);
    if (found === undefined) throw pathNotFound(path);
    files.push(...found);
  }
  if (files.length === 0) return withoutFiles(source);
  const zone = execution.now.zone?.rule;
  const read = readerSql(source, files, zone);
  const described = await execution.engine.describe(`SELECT * FROM ${read}`, execution.signal);
  return source.format === 'csv' && source.schema === undefined && !isTrue(source, 'header')
    ? withColumnNumbers(read, described)
    : withSchema(read, described, { source, zone });
}

function readerSql(source: FileSource, files: readonly string[], zone: ZoneRule): string {
  const list = `[${files.map((file) => sqlText(withoutPatterns(file))).join(', ')}]`;
  const common = ['hive_partitioning = true', `union_by_name = ${source.format === 'parquet' ? isTrue(source, 'mergeSchema') : true}`];
  switch (source.format) {
    case 'parquet':
      return `read_parquet(${[list, ...common].join(', ')})`;
    case 'json':
      return `read_json(${[list, ...common, ...jsonOptions(source, zone)].join(', ')})`;
    case 'csv':
      return `read_csv(${[list, ...common, ...csvOptions(source, zone)].join(', ')})`;
  }
}

function jsonOptions(source: FileSource, zone: ZoneRule): readonly string[] {
  const format = isTrue(source, 'multiLine') ? 'auto' : 'newline_delimited';
  return [
    `format = ${sqlText(format)}`,
    `ignore_errors = ${isTrue(source, 'dropMalformed')}`,
    ...(source.schema === undefined ? [] : [`columns = ${columnTypes(source.schema, source, zone)}`]),
  ];
}

function csvOptions(source: FileSource, zone: ZoneRule): readonly string[] {
  const text = (option: string, name: string): readonly string[] => {
    const value = source.options.get(option);
    return value === undefined ? [] : [`${name} = ${sqlText(value)}`];
  };
  const infer = isTrue(source, 'inferSchema');
  return [
    `header = ${isTrue(source, 'header')}`,
    `delim = ${sqlText(source.options.get('sep') ?? ',')}`,
    `quote = ${sqlText(source.options.get('quote') ?? '"')}`,
    ...text('escape', 'escape'),
    ...text('comment', 'comment'),
    ...text('nullValue', 'nullstr'),
    ...pattern(source, 'dateFormat'),
    ...pattern(source, 'timestampFormat'),
    ...(source.schema === undefined
      ? [`all_varchar = ${!infer}`]
      : [`columns = ${columnTypes(source.schema, source, zone)}`, 'auto_detect = false']),
  ];
}

/** Patterns are Java's. @throws AnalysisException `DELTA_ILLEGAL_OPTION` for one the engine does not read. */
function pattern(source: FileSource, option: 'dateFormat' | 'timestampFormat'): readonly string[] {
  const value = source.options.get(option);
  if (value === undefined) return [];
  const format = datePattern(value);
  if (format === undefined) throw invalidOption(option, value, 'it must be a pattern such as yyyy-MM-dd HH:mm:ss');
  return [`${option.toLowerCase()} = ${sqlText(format)}`];
}

function columnTypes(schema: StructType, source: FileSource, zone: ZoneRule): string {
  const types = schema.fields.map(({ name, type }) => `${sqlText(name)}: ${sqlText(textForm(type, source, zone) ?? typeSql(type))}`);
  return `{${types.join(', ')}}`;
}

/** What times of a zone are read as first, the engine's own being UTC; `undefined` where there are none, or a format of theirs is given. */
function textForm(type: DataType, { format, options }: FileSource, zone: ZoneRule): 'VARCHAR' | 'JSON' | undefined {
  if (zone === undefined || format === 'parquet' || options.has('timestampFormat')) return undefined;
  if (type.kind === 'timestamp') return 'VARCHAR';
  return format === 'json' && isNested(type) && holdsInstants(type) ? 'JSON' : undefined;
}

function holdsInstants(type: DataType): boolean {
  switch (type.kind) {
    case 'struct':
      return type.fields.some((field) => holdsInstants(field.type));
    case 'list':
      return holdsInstants(type.element);
    case 'map':
      return holdsInstants(type.key) || holdsInstants(type.value);
    default:
      return type.kind === 'timestamp';
  }
}

type Nested = Extract<DataType, { kind: 'struct' | 'list' | 'map' }>;

function isNested(type: DataType): type is Nested {
  return type.kind === 'struct' || type.kind === 'list' || type.kind === 'map';
}

/** The value of a column that was read, in its type. */
function valueSql(value: string, type: DataType, { source, zone }: InZone): string {
  const form = textForm(type, source, zone);
  if (form === 'VARCHAR') return castSql(value, { from: { kind: 'string' }, to: type, safe: false, zone });
  if (form === 'JSON' && isNested(type)) return jsonValueSql(`CAST(${value} AS VARCHAR)`, type, zone);
  // Patterns have no zone: the engine has read times by it as if they were UTC's.
  const formatted = zone !== undefined && type.kind === 'timestamp' && source.options.has('timestampFormat');
  return formatted ? toInstantSql(toLocalSql(value, undefined), zoneSqlOf(zone)) : `CAST(${value} AS ${typeSql(type)})`;
}

interface InZone {
  readonly source: FileSource;
  readonly zone: ZoneRule;
}

function withSchema(read: string, described: StructType, place: InZone): Relation {
  const wanted = place.source.schema;
  if (wanted === undefined) return { sql: `SELECT * FROM ${read}`, schema: described };
  const present = new Map(described.fields.map((field) => [field.name.toLowerCase(), field.name]));
  const columns = wanted.fields.map(({ name, type }) => {
    const stored = present.get(name.toLowerCase());
    const value = stored === undefined ? `CAST(NULL AS ${typeSql(type)})` : valueSql(quoteName(stored), type, place);
    return `${value} AS ${quoteName(name)}`;
  });
  return { sql: `SELECT ${columns.join(', ')} FROM ${read}`, schema: wanted };
}

/** Spark's names for the columns of a CSV file without header: `_c0`, `_c1` … */
function withColumnNumbers(read: string, described: StructType): Relation {
  const fields = described.fields.map((field, index) => (/^column\d+$/.test(field.name) ? { ...field, name: `_c${index}` } : field));
  const columns = described.fields.map((field, index) => `${quoteName(field.name)} AS ${quoteName(fields[index]?.name ?? field.name)}`);
  return { sql: `SELECT ${columns.join(', ')} FROM ${read}`, schema: { kind: 'struct', fields } };
}

function withoutFiles(source: FileSource): Relation {
  if (source.schema !== undefined) {
    const columns = source.schema.fields.map(({ name, type }) => `CAST(NULL AS ${typeSql(type)}) AS ${quoteName(name)}`);
    return { sql: `SELECT ${columns.join(', ')} WHERE false`, schema: source.schema };
  }
  throw new AnalysisException({
    errorClass: 'UNABLE_TO_INFER_SCHEMA',
    message: `Unable to infer schema for ${source.format.toUpperCase()}. It must be specified manually.`,
    hint: 'the paths hold no files; give a schema with .schema(…)',
    parameters: { format: source.format },
  });
}

function isTrue(source: FileSource, option: string): boolean {
  return source.options.get(option)?.toLowerCase() === 'true';
}

/** The engine would take these characters in a file's name for a pattern. */
function withoutPatterns(path: string): string {
  return path.replace(/[*?[]/g, (character) => `[${character}]`);
}
