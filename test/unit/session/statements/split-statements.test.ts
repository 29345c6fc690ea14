import { expect, it } from 'vitest';
import { splitStatements } from '../../../../src/session/statements/split-statements.ts';

it('statements are divided by semicolons outside of quotes and comments', () => {
  const text = "-- first; really\nSELECT ';' AS `a;b`; /* ; */ ;\n  SET a = b\n;SELECT 2 -- end";
  expect(splitStatements(text).map(({ text: statement, at }) => [statement, at.line])).toEqual([
    ["SELECT ';' AS `a;b`", 2],
    ['SET a = b', 3],
    ['SELECT 2', 4],
  ]);
});
