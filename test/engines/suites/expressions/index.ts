import { castSuite } from './casts.ts';
import type { ExpressionSuite } from './expression-suite.ts';
import { functionsAggregates } from './functions-aggregates.ts';
import { functionsCollections } from './functions-collections.ts';
import { functionsDates } from './functions-dates.ts';
import { functionsMath } from './functions-math.ts';
import { functionsText } from './functions-text.ts';
import { matrices } from './matrix.ts';
import { timeZones } from './time-zones.ts';

/** Every family of expressions. */
export const expressionSuites: readonly ExpressionSuite[] = [
  functionsMath,
  functionsText,
  functionsDates,
  functionsCollections,
  functionsAggregates,
  castSuite,
  ...timeZones,
  ...matrices,
];
