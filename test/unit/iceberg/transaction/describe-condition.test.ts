import { describe, expect, it } from 'vitest';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import { describeCondition } from '../../../../src/iceberg/transaction/describe-condition.ts';

describe('describeCondition', () => {
  it.each([
    ['id = 1', 'ref(name="id") == 1'],
    ["a.b <> 'x' and not (id >= 2)", '(ref(name="a.b") != "x" and not(ref(name="id") >= 2))'],
    ['id is null or s is not null', '(is_null(ref(name="id")) or not_null(ref(name="s")))'],
    ['id in (1, 2)', 'ref(name="id") in (1, 2)'],
  ])('shows %s as other implementations do', (sql, text) => {
    expect(describeCondition(parseExpression(sql))).toBe(text);
  });

  it('shows what has no such form in SQL', () => {
    expect(describeCondition(parseExpression('upper(s) = s'))).toContain('upper');
    expect(describeCondition(true)).toBe('true');
  });
});
