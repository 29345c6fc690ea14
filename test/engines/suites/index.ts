import { changedRows, changedRowsIceberg } from './changed-rows.ts';
import { comparedValues, comparedValuesIceberg } from './compared-values.ts';
import { deltaDefinitions } from './delta-definitions.ts';
import { earlierVersions } from './earlier-versions.ts';
import { fromInserts, fromInsertsIceberg } from './from-inserts.ts';
import { icebergDefinitions } from './iceberg-definitions.ts';
import { icebergStatements } from './iceberg-statements.ts';
import { deltaLengthLimits, icebergLengthLimits } from './length-limits.ts';
import { mergeClauses, mergeClausesIceberg } from './merge-clauses.ts';
import { nestedAssignments, nestedAssignmentsIceberg } from './nested-assignments.ts';
import { procedureArguments } from './procedure-arguments.ts';
import { queries } from './queries.ts';
import { identifierClause, identifierClauseIceberg, pipeSyntax, recursiveQueries, shownPartitions, sparkOrderings } from './query-forms.ts';
import { refusedClauses, refusedClausesIceberg } from './refused-clauses.ts';
import { refusedSettings, refusedSettingsIceberg } from './refused-settings.ts';
import type { RestatedSuite } from './restated-case.ts';
import { rowStatements, rowStatementsIceberg } from './row-statements.ts';
import { skippedFiles, skippedFilesIceberg } from './skipped-files.ts';
import { storedExpressions } from './stored-expressions.ts';
import { structInserts, structInsertsIceberg } from './struct-inserts.ts';
import { subtotals } from './subtotals.ts';
import { tableRules } from './table-rules.ts';
import { deltaTimeZones, icebergTimeZones } from './time-zones.ts';
import { viewTargets, viewTargetsIceberg } from './view-targets.ts';

/** Every suite told again. */
export const restatedSuites: readonly RestatedSuite[] = [
  queries,
  identifierClause,
  identifierClauseIceberg,
  recursiveQueries,
  pipeSyntax,
  sparkOrderings,
  shownPartitions,
  nestedAssignments,
  nestedAssignmentsIceberg,
  refusedClauses,
  refusedClausesIceberg,
  refusedSettings,
  refusedSettingsIceberg,
  rowStatements,
  rowStatementsIceberg,
  storedExpressions,
  structInserts,
  structInsertsIceberg,
  deltaLengthLimits,
  icebergLengthLimits,
  deltaTimeZones,
  icebergTimeZones,
  viewTargets,
  viewTargetsIceberg,
  changedRows,
  changedRowsIceberg,
  mergeClauses,
  mergeClausesIceberg,
  tableRules,
  icebergDefinitions,
  subtotals,
  comparedValues,
  comparedValuesIceberg,
  fromInserts,
  fromInsertsIceberg,
  procedureArguments,
  deltaDefinitions,
  skippedFiles,
  skippedFilesIceberg,
  earlierVersions,
  icebergStatements,
];
