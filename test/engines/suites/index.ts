import { deltaLengthLimits, icebergLengthLimits } from './length-limits.ts';
import { nestedAssignments, nestedAssignmentsIceberg } from './nested-assignments.ts';
import { refusedClauses, refusedClausesIceberg } from './refused-clauses.ts';
import type { RestatedSuite } from './restated-case.ts';
import { structInserts, structInsertsIceberg } from './struct-inserts.ts';

/** Every suite told again. */
export const restatedSuites: readonly RestatedSuite[] = [
  nestedAssignments,
  nestedAssignmentsIceberg,
  refusedClauses,
  refusedClausesIceberg,
  structInserts,
  structInsertsIceberg,
  deltaLengthLimits,
  icebergLengthLimits,
];
