import { describe, expect, it } from 'vitest';
import { AnalysisException } from '../../../src/base/analysis-exception.ts';
import { sqlStateOf } from '../../../src/base/sql-states.ts';

describe('the SQL state of an error class', () => {
  it.each([
    ['SESSION_STOPPED', '08003'],
    ['DELTA_VERSION_NOT_FOUND', '22003'],
    // As Spark 4.1 and Delta 4.4 have them.
    ['DIVIDE_BY_ZERO', '22012'],
    ['JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE', '42K0E'],
    ['UNSUPPORTED_EXPR_FOR_OPERATOR', '42K0E'],
    ['DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT', '42000'],
    ['UNRESOLVED_COLUMN', '42703'],
    ['UNRESOLVED_COLUMN.WITH_SUGGESTION', '42703'],
    ['NO_CLASS_OF_ANYBODY', undefined],
    ['', undefined],
  ])('%s: %s', (errorClass, state) => {
    expect(sqlStateOf(errorClass)).toBe(state);
    expect(new AnalysisException({ errorClass, message: 'no' }).sqlState).toBe(state);
  });
});
