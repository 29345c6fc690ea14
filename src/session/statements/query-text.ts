import type { ParameterValue, ParameterValues } from '../../expr/bind-parameters.ts';
import type { QueryText } from './statement.ts';

/** Pieces of a statement and words between them as one query, each `?` with the number it has in the statement. */
export function joinedText(at: QueryText['at'], ...pieces: readonly (string | QueryText | undefined)[]): QueryText {
  const given = pieces.filter((piece) => piece !== undefined);
  return {
    text: given.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join(''),
    at,
    parameters: given.flatMap((piece) => (typeof piece === 'string' ? [] : piece.parameters)),
  };
}

/** What the parameters of a query mean among those of its statement. */
export function parametersOf({ parameters: numbers }: QueryText, values: ParameterValues | undefined): ParameterValues | undefined {
  if (!isList(values)) return values;
  const present: ParameterValue[] = [];
  for (const number of numbers) {
    const value = values[number];
    // The first one without a value is found lacking, as those behind it are.
    if (value === undefined) break;
    present.push(value);
  }
  return present;
}

function isList(values: ParameterValues | undefined): values is readonly ParameterValue[] {
  return Array.isArray(values);
}
