import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import { mapExpression } from '../../expr/expression-tree.ts';
import { rowPlace } from '../plan/row-place.ts';

/** Functions of a seed by the names of those without, which ask for the place of a row besides. */
const ofPlaces: Readonly<Record<string, string | undefined>> = { rand: '#rand', random: '#rand', randn: '#randn' };

/**
 * `rand(seed)` and `randn(seed)` as numbers of the row's place, which the query gives them (`lower/row-places`).
 *
 * @throws AnalysisException `SEED_EXPRESSION_IS_UNFOLDABLE` 42K08.
 */
export function withRowPlaces(expression: Expression): Expression {
  return mapExpression(expression, (node) => {
    const name = node.kind === 'call' ? ofPlaces[node.name.toLowerCase()] : undefined;
    if (node.kind !== 'call' || name === undefined || node.arguments.length !== 1) return node;
    return { ...node, name, arguments: [seedOf(node.arguments[0]), rowPlace] };
  });
}

function seedOf(given: Expression | undefined): Expression {
  const negated = given?.kind === 'unary' && given.operator === '-';
  const value = negated ? given.operand : given;
  if (value?.kind === 'literal' && (value.literal.type === 'integer' || value.literal.type === 'null')) {
    const seed = value.literal.type === 'integer' ? value.literal.value : 0n;
    return { kind: 'literal', literal: { type: 'integer', value: BigInt.asIntN(64, negated ? -seed : seed), width: 'long' } };
  }
  throw new AnalysisException({
    errorClass: 'SEED_EXPRESSION_IS_UNFOLDABLE',
    message: 'The seed expression of rand and randn must be a whole number that is the same for all rows.',
    hint: 'for a number of each row take a hash of it: pmod(xxhash64(id, 42), 1000) / 1000',
  });
}
