import { AnalysisException, ParseException } from '../../base/analysis-exception.ts';
import type { Expression } from '../expression.ts';
import { isWord, TokenStream } from './token-stream.ts';
import type { Token } from './tokens.ts';

type ReadExpression = (tokens: readonly Token[]) => Expression;

/**
 * Tokens in which every `IDENTIFIER(text)` is the name that the constant text gives, so that it may stand wherever a name may.
 *
 * @param read reads an expression, with parameters replaced.
 * @throws AnalysisException `NOT_A_CONSTANT_STRING` 42601; ParseException for a text that is no name.
 */
export function expandIdentifiers(tokens: readonly Token[], read: ReadExpression): readonly Token[] {
  if (!tokens.some((_, index) => isClause(tokens, index))) return tokens;
  const output: Token[] = [];
  // A place that a clause takes is no longer counted by who reads what is left.
  const numbered = numberedParameters(tokens);
  for (let index = 0; index < numbered.length; index += 1) {
    const token = numbered[index];
    const close = isClause(numbered, index) ? closingOf(numbered, index + 1) : undefined;
    if (token === undefined) continue;
    if (close === undefined) output.push(token);
    else {
      const end = numbered[close]?.end ?? token.end;
      output.push(...nameTokens(constantText(read(numbered.slice(index + 2, close))), { position: token.position, end }));
      index = close;
    }
  }
  return output;
}

function isClause(tokens: readonly Token[], index: number): boolean {
  const [word, open] = [tokens[index], tokens[index + 1]];
  return word !== undefined && isWord(word, 'IDENTIFIER') && open?.kind === 'operator' && open.value === '(';
}

function numberedParameters(tokens: readonly Token[]): readonly Token[] {
  let count = 0;
  return tokens.map((token) => (token.kind === 'parameter' && token.value === '?' ? { ...token, value: String(count++) } : token));
}

/** The place of the parenthesis that closes the one at `open`. */
export function closingOf(tokens: readonly Token[], open: number): number | undefined {
  let depth = 0;
  for (let index = open; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token?.kind !== 'operator') continue;
    if (token.value === '(') depth += 1;
    if (token.value === ')') depth -= 1;
    if (depth === 0) return index;
  }
  return undefined;
}

function nameTokens(text: string, place: Pick<Token, 'position' | 'end'>): readonly Token[] {
  if (text.trim() === '') throw emptyName(place);
  const stream = new TokenStream(text);
  const parts = stream.expectNameParts();
  stream.expectEnd("'.'");
  return parts.flatMap((value, index): readonly Token[] => {
    const name: Token = { kind: 'quoted-name', value, ...place };
    return index === 0 ? [name] : [{ kind: 'operator', value: '.', ...place }, name];
  });
}

/** What texts, joined by `||` and `concat`, say before any row is read. */
function constantText(expression: Expression): string {
  if (expression.kind === 'binary' && expression.operator === '||') return constantText(expression.left) + constantText(expression.right);
  if (expression.kind === 'call' && expression.name.toLowerCase() === 'concat') return expression.arguments.map(constantText).join('');
  if (expression.kind === 'cast' && expression.type.kind === 'string') return constantText(expression.operand);
  if (expression.kind !== 'literal') throw notConstant('NOT_CONSTANT', 'which is not a constant text');
  if (expression.literal.type === 'null') throw notConstant('NULL', 'which is NULL');
  if (expression.literal.type !== 'string') throw notConstant('WRONG_TYPE', `whose type is ${expression.literal.type}`);
  return expression.literal.value;
}

function emptyName({ position }: Pick<Token, 'position'>): ParseException {
  return new ParseException({
    errorClass: 'PARSE_EMPTY_STATEMENT',
    message: 'Syntax error, unexpected empty statement: IDENTIFIER is given an empty text',
    position,
    text: '',
  });
}

function notConstant(reason: string, shown: string): AnalysisException {
  return new AnalysisException({
    errorClass: `NOT_A_CONSTANT_STRING.${reason}`,
    message: `The expression used for the routine or clause IDENTIFIER must be a constant STRING which is NOT NULL: it is given one ${shown}`,
    hint: "take texts, parameters, || and concat: IDENTIFIER('db.' || :name)",
    parameters: { name: 'IDENTIFIER' },
  });
}
