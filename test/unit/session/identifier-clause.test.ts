import { describe, expect, it } from 'vitest';
import { col } from '../../../src/session/functions.ts';
import { temporarySession } from '../../support/temporary-session.ts';

describe('IDENTIFIER(text)', () => {
  it('is the name that parameters give, in queries, statements and views', async () => {
    await using made = await temporarySession();
    const { session } = made;
    const named = { name: 't', column: 'v' };
    await session.sql('CREATE TABLE IDENTIFIER(:name) (id INT, v STRING) USING delta', named);
    await session.sql("INSERT INTO IDENTIFIER(:name) VALUES (1, 'a'), (2, 'b')", named);
    await session.sql("UPDATE IDENTIFIER(:name) SET v = 'z' WHERE IDENTIFIER(:column) = 'a'", named);
    await session.sql("CREATE TEMPORARY VIEW w AS SELECT * FROM IDENTIFIER(:name) WHERE IDENTIFIER(:column || '') = 'z'", named);
    expect(await (await session.sql('SELECT * FROM w')).collect()).toEqual([{ id: 1, v: 'z' }]);
    await expect(session.sql('SELECT * FROM IDENTIFIER(:name)')).rejects.toMatchObject({ errorClass: 'UNBOUND_SQL_PARAMETER' });
  });

  it('counts the places of ? that stand in it', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql('CREATE TABLE t (id INT, v INT) USING delta');
    await session.sql('INSERT INTO t VALUES (1, 10), (2, 20)');
    const asked = await session.sql('SELECT ? AS one, IDENTIFIER(?) FROM IDENTIFIER(?) WHERE id = ?', [7, 'v', 't', 2]);
    expect(await asked.collect()).toEqual([{ one: 7, v: 20 }]);
    await session.sql('DELETE FROM IDENTIFIER(?) WHERE id = ?', ['t', 2]);
    expect(await session.table('t').collect()).toEqual([{ id: 1, v: 10 }]);
  });

  it('is a name in the texts that DataFrames take, and no more than a name', async () => {
    await using made = await temporarySession();
    const { session } = made;
    const frame = await session.sql('SELECT 1 AS id, 2 AS `identifier`');
    expect(await frame.selectExpr("IDENTIFIER('i' || 'd') AS x", 'identifier').where("IDENTIFIER('x') = 1").collect()).toEqual([
      { x: 1, identifier: 2 },
    ]);
    expect(await frame.select(col('identifier')).collect()).toEqual([{ identifier: 2 }]);
    await expect(session.sql("SELECT IDENTIFIER('1 + 1; DROP TABLE t')")).rejects.toMatchObject({ errorClass: 'PARSE_SYNTAX_ERROR' });
  });
});
