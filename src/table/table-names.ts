import { AnalysisException } from '../base/analysis-exception.ts';

const absentHint =
  'if the name was not qualified with a schema, see which one is current, or qualify it with schema and catalog; DROP TABLE IF EXISTS tolerates absence';

/** A dotted name with each part in backticks, as messages show it. */
export function quotedName(parts: readonly string[]): string {
  return parts.map((part) => `\`${part.replaceAll('`', '``')}\``).join('.');
}

/** The parts of a table's dotted name; a path is one part. */
export function nameParts(name: string): readonly string[] {
  return name.includes('/') ? [name] : name.split('.');
}

/** @param hint what to do about it; default for a name in a query. */
export function tableNotFound(parts: readonly string[], hint: string = absentHint): AnalysisException {
  const name = quotedName(parts);
  return new AnalysisException({
    errorClass: 'TABLE_OR_VIEW_NOT_FOUND',
    kind: 'not-found',
    message: `The table or view ${name} cannot be found. Verify the spelling and correctness of the schema and catalog.`,
    hint,
    parameters: { relationName: name },
  });
}

export function tableExists(parts: readonly string[]): AnalysisException {
  const name = quotedName(parts);
  return new AnalysisException({
    errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS',
    message: `Cannot create table or view ${name} because it already exists.`,
    hint: 'choose a different name, drop or replace the existing object, or add IF NOT EXISTS',
    parameters: { relationName: name },
  });
}

export function schemaNotFound(
  namespace: readonly string[],
  hint = 'CREATE DATABASE makes one; DROP SCHEMA IF EXISTS tolerates absence',
): AnalysisException {
  const name = quotedName(namespace);
  return new AnalysisException({
    errorClass: 'SCHEMA_NOT_FOUND',
    kind: 'not-found',
    message: `The schema ${name} cannot be found. Verify the spelling and correctness of the schema and catalog.`,
    hint,
    parameters: { schemaName: name },
  });
}

export function viewNotFound(parts: readonly string[]): AnalysisException {
  const name = quotedName(parts);
  return new AnalysisException({
    errorClass: 'VIEW_NOT_FOUND',
    kind: 'not-found',
    message: `The view ${name} cannot be found. Verify the spelling and correctness of the schema and catalog.`,
    hint: 'SHOW VIEWS lists them; DROP VIEW IF EXISTS tolerates absence',
    parameters: { relationName: name },
  });
}

export function viewExists(parts: readonly string[]): AnalysisException {
  const name = quotedName(parts);
  return new AnalysisException({
    errorClass: 'VIEW_ALREADY_EXISTS',
    message: `Cannot create view ${name} because it already exists.`,
    hint: 'choose a different name, drop or replace the existing object, or add IF NOT EXISTS',
    parameters: { relationName: name },
  });
}
