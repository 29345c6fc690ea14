import { deltaLengthLimits, icebergLengthLimits } from './length-limits.ts';
import { nestedAssignments } from './nested-assignments.ts';
import type { RestatedSuite } from './restated-case.ts';

/** Every suite told again. */
export const restatedSuites: readonly RestatedSuite[] = [nestedAssignments, deltaLengthLimits, icebergLengthLimits];
