import { bindOnce } from './bind-once.ts';

/**
 * The body of a lambda over given values. The engine's own functions call lambdas with elements of one list only.
 *
 * @param lambda as the expression printer writes it: `lambda "a", "b": body`, with names of its own.
 */
export function applyLambda(lambda: string, values: readonly string[]): string {
  const match = /^lambda ((?:"[^"]*"(?:, )?)+): /.exec(lambda);
  if (match === null) return lambda;
  const names = (match[1] ?? '').split(', ').map((name) => name.slice(1, -1));
  const body = lambda.slice(match[0].length);
  return names.reduceRight((inner, name, index) => bindOnce(values[index] ?? 'NULL', name, () => inner), body);
}
