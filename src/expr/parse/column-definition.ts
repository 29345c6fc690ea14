import { AnalysisException } from '../../base/analysis-exception.ts';
import { declaredMetadata, withoutLengths } from '../../schema/declared-length.ts';
import type { DataType, Field } from '../../schema/types.ts';
import type { ExpressionParser } from './parse-expression.ts';
import { readDeclaredType } from './read-type.ts';
import type { TokenStream } from './token-stream.ts';

/** Field metadata of a column definition, by Delta's keys. */
const keys = {
  comment: 'comment',
  default: 'CURRENT_DEFAULT',
  generated: 'delta.generationExpression',
  identityStart: 'delta.identity.start',
  identityStep: 'delta.identity.step',
  identityExplicit: 'delta.identity.allowExplicitInsert',
} as const;

/**
 * `name type [NOT NULL] [DEFAULT expression] [GENERATED …] [COMMENT 'text']`, the clauses in any order, each once.
 *
 * @throws ParseException, AnalysisException.
 */
export function readColumnDefinition(stream: TokenStream, parser: ExpressionParser): Field {
  const name = stream.expectName('a column name');
  // `DataFrame.schema` text may separate names and types with a colon.
  stream.takeOperator(':');
  return readColumnOf(name, stream, parser);
}

/** The column of that name: its type, and the clauses after it. */
export function readColumnOf(name: string, stream: TokenStream, parser: ExpressionParser): Field {
  const declared = readDeclaredType(stream);
  const type = withoutLengths(declared);
  const { nullable, metadata: stated } = readColumnClauses(stream, parser, type);
  const metadata = { ...stated, ...declaredMetadata(declared) };
  return { name, type, nullable, ...(Object.keys(metadata).length === 0 ? {} : { metadata }) };
}

/** The clauses after a column's type. */
function readColumnClauses(
  stream: TokenStream,
  parser: ExpressionParser,
  type: DataType,
): { readonly nullable: boolean; readonly metadata: Readonly<Record<string, unknown>> } {
  let nullable = true;
  let metadata: Readonly<Record<string, unknown>> = {};
  for (;;) {
    const clause = stream.peek();
    const added = readMetadataClause(stream, parser, type);
    if (added !== undefined) {
      if (Object.keys(added).some((key) => key in metadata)) throw stream.unexpectedAt(clause, 'each clause once');
      metadata = { ...metadata, ...added };
    } else if (stream.takeWords('NOT', 'NULL')) nullable = false;
    else if (!stream.takeWords('NULL')) return { nullable, metadata };
  }
}

function readMetadataClause(stream: TokenStream, parser: ExpressionParser, type: DataType): Readonly<Record<string, unknown>> | undefined {
  if (stream.takeWords('COMMENT')) return { [keys.comment]: stream.expectString('a comment') };
  if (stream.takeWords('DEFAULT')) return { [keys.default]: parser.readExpressionText().text };
  if (!stream.takeWords('GENERATED')) return undefined;
  if (stream.takeWords('BY')) {
    stream.expectWords('DEFAULT', 'AS', 'IDENTITY');
    return readIdentity(stream, type, true);
  }
  stream.expectWords('ALWAYS', 'AS');
  if (stream.takeWords('IDENTITY')) return readIdentity(stream, type, false);
  stream.expectOperator('(');
  const { text } = parser.readExpressionText();
  stream.expectOperator(')');
  return { [keys.generated]: text };
}

function readIdentity(stream: TokenStream, type: DataType, allowExplicitInsert: boolean): Readonly<Record<string, unknown>> {
  if (type.kind !== 'long') {
    throw new AnalysisException({
      errorClass: 'DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE',
      message: `DataType ${type.kind} is not supported for IDENTITY columns.`,
      hint: 'make the column BIGINT',
      parameters: { dataType: type.kind },
    });
  }
  const options = stream.takeOperator('(') ? readIdentityOptions(stream) : { start: 1n, step: 1n };
  if (options.step === 0n) {
    throw new AnalysisException({
      errorClass: 'IDENTITY_COLUMNS_ILLEGAL_STEP',
      message: 'IDENTITY column step cannot be 0.',
    });
  }
  return {
    [keys.identityStart]: jsonInteger(options.start),
    [keys.identityStep]: jsonInteger(options.step),
    [keys.identityExplicit]: allowExplicitInsert,
  };
}

function readIdentityOptions(stream: TokenStream): { readonly start: bigint; readonly step: bigint } {
  let start = 1n;
  let step = 1n;
  while (!stream.takeOperator(')')) {
    if (stream.takeWords('START')) {
      stream.expectWords('WITH');
      start = readLong(stream);
    } else {
      stream.expectWords('INCREMENT', 'BY');
      step = readLong(stream);
    }
  }
  return { start, step };
}

const maxLong = 2n ** 63n - 1n;

function readLong(stream: TokenStream): bigint {
  const negative = stream.takeOperator('-');
  const token = stream.peek();
  const digits = /^(\d{1,19})L?$/i.exec(token.value)?.[1];
  const value = BigInt(digits ?? 0) * (negative ? -1n : 1n);
  if (token.kind !== 'number' || digits === undefined || value > maxLong || value < -maxLong - 1n) throw stream.unexpected('a BIGINT');
  stream.next();
  return value;
}

// As the JSON reader gives them: `bigint` only where a number would lose digits.
function jsonInteger(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
