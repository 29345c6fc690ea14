import { describe, expect, it } from 'vitest';
import { lackingFunctions, renderFunctionsReference } from '../../support/functions-reference.ts';
import { expectFresh } from '../../support/generated-page.ts';

describe('functions of Spark', () => {
  it('that are not here have a reason each', () => {
    expect(lackingFunctions().filter(({ reason }) => reason === undefined)).toEqual([]);
  });

  it('are in the reference as the program has them', () => {
    expectFresh('docs/reference/sql-functions.md', renderFunctionsReference());
  });
});
