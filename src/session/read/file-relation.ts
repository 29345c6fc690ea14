import { AnalysisException } from '../../base/analysis-exception.ts';
import { quoteName, sqlText, typeSql } from '../../expr/sql/engine-sql.ts';
import type { StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { Execution } from '../plan/execution.ts';
import type { FileSource } from '../plan/plan.ts';
import { pathNotFound } from '../session-errors.ts';
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
  const read = readerSql(source, files);
  const described = await execution.engine.describe(`SELECT * FROM ${read}`, execution.signal);
  return source.format === 'csv' && source.schema === undefined && !isTrue(source, 'header')
    ? withColumnNumbers(read, described)
    : withSchema(read, described, source.schema);
}

function readerSql(source: FileSource, files: readonly string[]): string {
  const list = `[${files.map((file) => sqlText(withoutPatterns(file))).join(', ')}]`;
  const common = ['hive_partitioning = true', `union_by_name = ${source.format === 'parquet' ? isTrue(source, 'mergeSchema') : true}`];
  switch (source.format) {
    case 'parquet':
      return `read_parquet(${[list, ...common].join(', ')})`;
    case 'json':
      return `read_json(${[list, ...common, ...jsonOptions(source)].join(', ')})`;
    case 'csv':
      return `read_csv(${[list, ...common, ...csvOptions(source)].join(', ')})`;
  }
}

function jsonOptions(source: FileSource): readonly string[] {
  const format = isTrue(source, 'multiLine') ? 'auto' : 'newline_delimited';
  return [
    `format = ${sqlText(format)}`,
    `ignore_errors = ${isTrue(source, 'dropMalformed')}`,
    ...(source.schema === undefined ? [] : [`columns = ${columnTypes(source.schema)}`]),
  ];
}

function csvOptions(source: FileSource): readonly string[] {
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
    ...text('dateFormat', 'dateformat'),
    ...text('timestampFormat', 'timestampformat'),
    ...(source.schema === undefined ? [`all_varchar = ${!infer}`] : [`columns = ${columnTypes(source.schema)}`, 'auto_detect = false']),
  ];
}

function columnTypes(schema: StructType): string {
  return `{${schema.fields.map(({ name, type }) => `${sqlText(name)}: ${sqlText(typeSql(type))}`).join(', ')}}`;
}

function withSchema(read: string, described: StructType, wanted: StructType | undefined): Relation {
  if (wanted === undefined) return { sql: `SELECT * FROM ${read}`, schema: described };
  const present = new Map(described.fields.map((field) => [field.name.toLowerCase(), field.name]));
  const columns = wanted.fields.map(({ name, type }) => {
    const stored = present.get(name.toLowerCase());
    return `CAST(${stored === undefined ? 'NULL' : quoteName(stored)} AS ${typeSql(type)}) AS ${quoteName(name)}`;
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
    sqlState: '42KD9',
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
