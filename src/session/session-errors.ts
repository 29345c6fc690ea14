import { AnalysisException } from '../base/analysis-exception.ts';
import { nearestName } from '../base/nearest-name.ts';
import { quotedName, schemaNotFound } from '../table/table-names.ts';

export function pathNotFound(path: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'PATH_NOT_FOUND',
    kind: 'not-found',
    message: `Path does not exist: ${path}.`,
    hint: 'check the path; relative paths start at the working directory of the process',
    parameters: { path },
  });
}

export function notADeltaTable(table: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_MISSING_DELTA_TABLE',
    kind: 'not-found',
    message: `${table} is not a Delta table.`,
    hint: 'check the path; DeltaTable.isDeltaTable tells without an error',
    parameters: { tableName: table },
  });
}

export function notATable(table: string, operation: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_TABLE_ONLY_OPERATION',
    message: `${table} is not a Delta table. ${operation} is only supported for Delta tables.`,
    parameters: { tableName: table, operation },
  });
}

/** A temporary view where a table must be named. */
export function expectTable(viewName: string, operation: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE',
    message: `'${operation}' expects a table but ${viewName} is a view.`,
    parameters: { operation, viewName },
    hint: 'name the table that the view reads',
  });
}

/** A statement about views that names a table, or the reverse. */
export function wrongCommand(
  operation: 'DROP VIEW' | 'DROP TABLE',
  parts: readonly string[],
  { isTable }: { readonly isTable: boolean },
): AnalysisException {
  const objectName = quotedName(parts);
  const [requiredType, foundType, alternative] = isTable ? ['VIEW', 'TABLE', 'DROP TABLE'] : ['TABLE', 'VIEW', 'DROP VIEW'];
  return new AnalysisException({
    errorClass: 'WRONG_COMMAND_FOR_OBJECT_TYPE',
    message: `The operation ${operation} requires a ${requiredType}. But ${objectName} is a ${foundType}. Use ${alternative} instead.`,
    parameters: { operation, requiredType, objectName, foundType, alternative },
    hint: `use ${alternative}`,
  });
}

/** A table where a view must be named. */
export function expectView(parts: readonly string[], operation: string): AnalysisException {
  const tableName = quotedName(parts);
  return new AnalysisException({
    errorClass: 'EXPECT_VIEW_NOT_TABLE.USE_ALTER_TABLE',
    message: `The table ${tableName} does not support ${operation}. Please use ALTER TABLE instead.`,
    parameters: { tableName, operation },
  });
}

/** A temporary view where one of a catalog must be named. */
export function expectPermanent(viewName: string, operation: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'EXPECT_PERMANENT_VIEW_NOT_TEMP',
    message: `'${operation}' expects a permanent view but ${viewName} is a temp view.`,
    parameters: { operation, viewName },
    hint: 'name the view of the catalog with its namespace',
  });
}

/** A catalog that keeps no views. */
export function withoutViews(catalogName: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'UNSUPPORTED_FEATURE.CATALOG_OPERATION',
    kind: 'unsupported',
    message: `The feature is not supported: Catalog \`${catalogName}\` does not support views.`,
    hint: 'use CREATE TEMPORARY VIEW, or make the view in an Iceberg catalog of type rest or jdbc, where it may read tables of all catalogs',
    parameters: { catalogName, operation: 'views' },
  });
}

export function pathExists(location: string): AnalysisException {
  const path = location.startsWith('/') ? `file:${location}` : location;
  return new AnalysisException({
    errorClass: 'DELTA_PATH_EXISTS',
    message: `Cannot write to already existent path ${path} without setting OVERWRITE = 'true'.`,
    hint: "use mode('append') or mode('overwrite')",
    parameters: { path },
  });
}

export function namespaceNotFound(parts: readonly string[]): AnalysisException {
  return schemaNotFound(parts, 'SHOW DATABASES lists them; DROP SCHEMA IF EXISTS tolerates absence');
}

export function catalogNotFound(name: string, known: readonly string[]): AnalysisException {
  return new AnalysisException({
    errorClass: 'CATALOG_NOT_FOUND',
    kind: 'not-found',
    message: `The catalog ${quotedName([name])} not found.`,
    hint: `set the configuration "spark.sql.catalog.${name}"; known catalogs: ${known.join(', ')}`,
    parameters: { catalogName: name },
  });
}

/** An option that the format or operation does not have. */
export function unknownOption(name: string, owner: string, known: readonly string[]): AnalysisException {
  const nearest = nearestName(name, known);
  return new AnalysisException({
    errorClass: 'UNKNOWN_OPTION',
    message: `option "${name}" is unknown to ${owner}`,
    hint: nearest === undefined ? `known options: ${known.join(', ')}` : `did you mean "${nearest}"?`,
    parameters: { option: name, owner },
  });
}

export function invalidOption(name: string, value: string, expected: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_ILLEGAL_OPTION',
    message: `Invalid value '${value}' for option '${name}', ${expected}`,
    parameters: { name, input: value, explain: expected },
  });
}

/** An argument of a method that cannot be. */
export function invalidArgument(message: string, hint?: string): AnalysisException {
  return new AnalysisException({ errorClass: 'INVALID_ARGUMENT', message, hint });
}

/** What an action on a streaming DataFrame gets. */
export function streamNotStarted(): AnalysisException {
  return new AnalysisException({
    errorClass: 'STREAMING_QUERY_NOT_STARTED',
    message: 'Queries with streaming sources must be executed with writeStream.start().',
    hint: 'for a look at the rows, read the table with session.read',
  });
}
