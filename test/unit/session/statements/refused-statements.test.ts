import { describe, expect, it } from 'vitest';
import { parseStatement } from '../../../../src/session/statements/parse-statement.ts';

describe('refusals name place, expectation and nearest word', () => {
  it.each([
    ['SELCT 1', 'line 1, column 1', 'did you mean SELECT?'],
    ['OPTIMISE t', "near 'OPTIMISE'", 'did you mean OPTIMIZE?'],
    ['CREATE TABEL t (id INT)', 'column 8', 'did you mean TABLE?'],
    ['CREATE TABLE t (id INT) USNG delta', 'expected USING', 'did you mean USING?'],
    ['ALTER TABLE t\n  ADD COLUM a INT', 'line 2, column 7', 'did you mean COLUMN?'],
    ['OPTIMIZE t ZORDR BY (a)', 'expected WHERE', 'did you mean ZORDER?'],
    ['VACUUM t RETAIN 5 DAYS', 'expected HOURS', undefined],
    ['DELETE t WHERE a = 1', 'expected FROM', undefined],
    ['INSERT t VALUES (1)', 'expected INTO or OVERWRITE', undefined],
    ['UPDATE t SET a 5', "expected '='", undefined],
    ['MERGE INTO t USING s ON a = b WHEN MATCHD THEN DELETE', 'expected MATCHED or NOT', 'did you mean MATCHED?'],
    ['SELECT 1; SELECT 2', 'expected the end of the statement', undefined],
    ['', 'near end of input', undefined],
    ['CREATE TABLE t (a INT, a2', 'expected a type', undefined],
    ["CREATE TABLE t (a INT) COMMENT 'x' COMMENT 'y'", 'each clause once', undefined],
    ['ALTER TABLE t ADD PARTITION FIELD buckt(4, a)', "near 'buckt'", 'did you mean bucket?'],
    ['DELETE FROM t WHERE a = 1 ANDD b', "near 'ANDD'", 'did you mean AND?'],
  ])('%s', (text, message, hint) => {
    expect(() => parseStatement(text)).toThrow(
      expect.objectContaining({ name: 'ParseException', sqlState: '42601', message: expect.stringContaining(message) as unknown, hint }),
    );
  });

  it.each([
    'ANALYZE TABLE t COMPUTE STATISTICS',
    'CREATE TABLE t (a INT, PRIMARY KEY (a))',
    'CREATE TABLE t (a INT) CLUSTERED BY (a) INTO 4 BUCKETS',
    'ALTER TABLE t REPLACE COLUMNS (a INT)',
    'ALTER TABLE t ADD PARTITION (p = 1)',
    'ALTER TABLE t DROP FEATURE x TRUNCATE HISTORY',
    "INSERT OVERWRITE DIRECTORY '/x' SELECT 1",
    'TRUNCATE TABLE t PARTITION (p = 1)',
  ])('%s is not supported, and says so', (text) => {
    expect(() => parseStatement(text)).toThrow(
      expect.objectContaining({ errorClass: 'UNSUPPORTED_STATEMENT', message: expect.stringContaining('is not supported') as unknown }),
    );
  });

  it.each([
    ['WHEN MATCHED THEN DELETE WHEN MATCHED THEN UPDATE SET *', 'NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION', '42613'],
    ['WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED THEN INSERT *', 'NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION', '42613'],
    [
      'WHEN NOT MATCHED BY SOURCE THEN DELETE WHEN NOT MATCHED BY SOURCE THEN DELETE',
      'NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION',
      '42613',
    ],
    ['', 'MERGE_WITHOUT_WHEN', '42601'],
    ['WHEN NOT MATCHED THEN INSERT (a, b) VALUES (1)', '_LEGACY_ERROR_TEMP_0006', undefined],
  ])('MERGE … %s is refused', (clauses, errorClass, sqlState) => {
    expect(() => parseStatement(`MERGE INTO t USING s ON t.a = s.a ${clauses}`)).toThrow(expect.objectContaining({ errorClass, sqlState }));
  });

  it('a parameter without a value is refused', () => {
    expect(() => parseStatement('DELETE FROM t WHERE a = :x', {})).toThrow(
      expect.objectContaining({ errorClass: 'UNBOUND_SQL_PARAMETER' }),
    );
  });
});
