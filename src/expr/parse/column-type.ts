import { AnalysisException } from '../../base/analysis-exception.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import { describeType, required } from '../../schema/describe-type.ts';
import { quotedWhenNeeded } from '../../schema/sql-type.ts';
import type { DataType, Field } from '../../schema/types.ts';
import { parseDeclaredType } from './parse-type.ts';

const maxDepth = 32;
const kinds = 'boolean, byte, short, integer, long, float, double, string, binary, date, timestamp, timestamp_ntz, time';
const hint = `types are ${kinds}, timestamp_ns, timestamp_ntz_ns, decimal(p,s), array<…>, map<…,…>, struct<name:type,…>`;

/**
 * Reads a column type in the words of statements: `long`, `decimal(12,2)`, `array<string not null>`, `map<string,long>`,
 * ``struct<street:string,`zip code`:string not null>``. Words are the same in upper and lower case; names are not.
 *
 * @throws ServiceError `COLUMN_TYPE_INVALID` (kind invalid) with the place of what does not fit.
 */
export function parseColumnType(text: string): DataType {
  const type = readType(text);
  const problem = problemOf(type, 0);
  if (problem !== undefined) throw invalid(text, problem);
  return type;
}

function readType(text: string): DataType {
  try {
    return parseDeclaredType(text);
  } catch (error) {
    if (!(error instanceof AnalysisException)) throw error;
    throw invalid(text, error.message.replace(/\.$/u, ''));
  }
}

/** What statements know and no topic's records have, and what has no place in a file. */
function problemOf(type: DataType, depth: number): string | undefined {
  if (depth > maxDepth) return `it is nested deeper than ${maxDepth}`;
  switch (type.kind) {
    case 'variant':
    case 'void':
      return `"${type.kind}" is no type of a record's value`;
    case 'string':
      return type.length === undefined ? undefined : 'the length of text is not kept: write string';
    case 'list':
      return problemOf(type.element, depth + 1);
    case 'map':
      return problemOf(type.key, depth + 1) ?? problemOf(type.value, depth + 1);
    case 'struct':
      return problemOfFields(type.fields, depth + 1);
    default:
      return undefined;
  }
}

function problemOfFields(fields: readonly Field[], depth: number): string | undefined {
  if (fields.length === 0) return 'a struct has at least one field';
  const names = new Set<string>();
  for (const { name, type, metadata } of fields) {
    if (metadata !== undefined) return `"${name}" has a comment, which is not kept`;
    const lower = name.toLowerCase();
    if (names.has(lower)) return `there is a second field "${name}"`;
    names.add(lower);
    const problem = problemOf(type, depth);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function invalid(text: string, problem: string): ServiceError {
  return serviceError.invalid('COLUMN_TYPE_INVALID', `column type "${text}": ${problem}`, { hint });
}

/** The inverse of `parseColumnType`. */
export function printColumnType(type: DataType): string {
  return describeType(type, (fields) => fields.map(printField).join(','));
}

function printField({ name, type, nullable }: Field): string {
  return `${quotedWhenNeeded(name)}:${printColumnType(type)}${required(nullable)}`;
}
