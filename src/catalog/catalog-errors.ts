import { AnalysisException } from '../base/analysis-exception.ts';
import { quotedName } from '../table/table-names.ts';

export function schemaExists(namespace: readonly string[]): AnalysisException {
  const name = quotedName(namespace);
  return new AnalysisException({
    errorClass: 'SCHEMA_ALREADY_EXISTS',
    message: `Cannot create schema ${name} because it already exists.`,
    hint: 'choose a different name, or add IF NOT EXISTS',
    parameters: { schemaName: name },
  });
}

export function schemaNotEmpty(
  namespace: readonly string[],
  why: 'contains objects' | 'is the default one' = 'contains objects',
): AnalysisException {
  const name = quotedName(namespace);
  return new AnalysisException({
    errorClass: 'SCHEMA_NOT_EMPTY',
    message: `Cannot drop a schema ${name} because it ${why}.`,
    hint: why === 'contains objects' ? 'use DROP SCHEMA … CASCADE to drop the schema and all its objects' : undefined,
    parameters: { schemaName: name },
  });
}

/** A level of a namespace, or a table's name, that a catalog cannot keep. */
export function invalidName(name: string, hint: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'INVALID_SCHEMA_OR_RELATION_NAME',
    message: `\`${name}\` is not a valid name for tables/schemas.`,
    hint,
    parameters: { name },
  });
}

export function cannotHold(catalog: string, format: string, hint: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DATA_SOURCE_NOT_FOUND',
    kind: 'unsupported',
    message: `catalog "${catalog}" cannot hold tables of format "${format}"`,
    hint,
  });
}
