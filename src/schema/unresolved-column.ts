import { AnalysisException } from '../base/analysis-exception.ts';
import { editDistance } from '../base/nearest-name.ts';

const maxSuggestions = 5;

/** The error for a name that nothing has; `known`: what could have been meant, which is proposed nearest first. */
export function unresolvedName(path: readonly string[], known: readonly (readonly string[])[]): AnalysisException {
  const objectName = quotedName(path);
  const proposals = known
    .map((parts) => ({ parts, distance: editDistance(path.join('.'), parts.join('.')) }))
    .toSorted((left, right) => left.distance - right.distance)
    .slice(0, maxSuggestions)
    .map(({ parts }) => quotedName(parts))
    .join(', ');
  const sentence = `A column, variable, or function parameter with name ${objectName} cannot be resolved.`;
  return new AnalysisException({
    errorClass: proposals === '' ? 'UNRESOLVED_COLUMN.WITHOUT_SUGGESTION' : 'UNRESOLVED_COLUMN.WITH_SUGGESTION',
    message: proposals === '' ? sentence : `${sentence} Did you mean one of the following? [${proposals}].`,
    parameters: { objectName, ...(proposals === '' ? {} : { proposal: proposals }) },
  });
}

/** The parts of a name, each in backticks. */
export function quotedName(path: readonly string[]): string {
  return path.map((part) => `\`${part.replaceAll('`', '``')}\``).join('.');
}
