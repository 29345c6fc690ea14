import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Session } from '../../src/app/session.ts';
import { isServiceError } from '../../src/base/errors.ts';
import { countRead } from '../../src/protocol/sealed-batch.ts';
import { holds, propertySeed, propertyTimeoutMs } from '../support/property/property-runs.ts';
import { type TemporarySession, temporarySession } from '../support/temporary-session.ts';
import { openTestEngine, type TestEngine } from '../support/test-engine.ts';
import { transformed } from '../support/transform-bench.ts';

let made: TemporarySession;
let opened: TestEngine;
beforeAll(async () => {
  [made, opened] = await Promise.all([temporarySession(), openTestEngine()]);
});
afterAll(async () => {
  await made[Symbol.asyncDispose]();
  await opened.close();
});

/** Some fail for some records. */
const values = [
  'n + 1',
  '10 / n',
  '10 div n',
  'n * 1000000000000000000',
  'CAST(t AS int)',
  'try_cast(t AS int)',
  'CAST(n AS tinyint)',
  'CAST(t AS date)',
  'upper(t)',
  'concat(t, n)',
  'concat_ws("-", l)',
  'l[1]',
  'element_at(l, 1)',
  'size(l)',
  's.a',
  's.b || t',
  'coalesce(s.a, n)',
  'CASE WHEN n > 0 THEN t ELSE s.b END',
  'substring(t, 2, 3)',
  'transform(l, x -> concat(x, t))[0]',
  'd * d',
  'CAST(d AS decimal(3,2))',
  'round(d, 1)',
  'md5(t)',
  'to_json(s)',
  'date_add(DATE"2026-01-01", CAST(n AS int))',
  'repeat(t, 3)',
];
const conditions = [
  'true',
  'n > 0',
  't IS NOT NULL',
  '10 / n > 1',
  'n <> 0 AND 10 / n > 1',
  'CAST(t AS int) > 1',
  'size(l) = 1',
  's.a IS NULL OR s.a > n',
];

const record = fc.record({
  n: fc.option(fc.constantFrom(0, 1, -3, 7, 200, 90_000)),
  t: fc.option(fc.constantFrom('', '1', '12', '-7', 'x', '2026-01-02', 'æøå and some more text than fits', '99999999999')),
  l: fc.option(fc.array(fc.option(fc.constantFrom('a', 'b', 'long enough not to be inline')), { maxLength: 3 })),
  s: fc.option(fc.record({ a: fc.option(fc.integer({ min: -5, max: 5 })), b: fc.option(fc.constantFrom('', 'q')) })),
  d: fc.option(fc.constantFrom('0.01', '12.50', '-999999.99')),
});
const input = fc.record({
  records: fc.array(record, { minLength: 1, maxLength: 8 }),
  select: fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 4 }),
  where: fc.constantFrom(...conditions),
});
type Input = typeof input extends fc.Arbitrary<infer T> ? T : never;
type Given = Input['records'][number] & { readonly id: number };

const schema = 'id BIGINT, n BIGINT, t STRING, l ARRAY<STRING>, s STRUCT<a: BIGINT, b: STRING>, d DECIMAL(10,2)';

/** The rows that the Session's own SELECT gives of a record; `undefined`: it fails. */
async function selected(session: Session, { select, where }: Input, given: Given): Promise<readonly string[] | undefined> {
  session.createDataFrame([{ ...given }], schema).createOrReplaceTempView('records');
  const list = select.map((value, index) => `CAST(${value} AS string) AS v${index}`).join(', ');
  try {
    const rows = await (await session.sql(`SELECT CAST(id AS string) AS id, ${list} FROM records WHERE ${where}`)).collect();
    const names = ['id', ...select.map((_, index) => `v${index}`)];
    return rows.map((row) => JSON.stringify(names.map((name) => (typeof row[name] === 'string' ? row[name] : 'null'))));
  } catch (error) {
    if (isServiceError(error, 'invalid')) return undefined;
    throw error;
  }
}

describe(`a transform of any expressions over any records (SEED=${propertySeed})`, () => {
  it('gives the rows of the Session’s SELECT, and rejects exactly the records that it fails for', {
    timeout: propertyTimeoutMs,
  }, async () => {
    await holds(
      input,
      async (drawn) => {
        const records = drawn.records.map((each, id) => ({ id, ...each }));
        const expected = await Promise.all(records.map(async (given) => ({ id: given.id, rows: await selectedAlone(drawn, given) })));
        const { select, where } = drawn;
        const list = select.map((value, index) => JSON.stringify(`CAST(${value} AS string) AS v${index}`));
        const result = await transformed(
          {
            columns: ['name: id, type: long', ...select.map((_, index) => `name: v${index}, type: string`)],
            route: `columns:
  - { name: id, type: long }
  - { name: n, type: long }
  - { name: t, type: string }
  - { name: l, type: array<string> }
  - { name: s, type: "struct<a:long,b:string>" }
  - { name: d, type: "decimal(10,2)" }
select: [id, ${list.join(', ')}]
where: ${JSON.stringify(where)}`,
          },
          [records.map((value) => ({ value }))],
          () => Promise.resolve(opened.engine),
        );
        const rows = result.rows.map((row) => JSON.stringify(Object.values(row).map(String)));
        expect(rows).toEqual(expected.flatMap((each) => each.rows ?? []));
        expect(result.rejects.map(({ offset }) => Number(offset))).toEqual(
          expected.filter((each) => each.rows === undefined).map(({ id }) => id),
        );
        expect(countRead(result)).toBe(records.length);
      },
      { runs: 40 },
    );
  });
});

let turn: Promise<unknown> = Promise.resolve();

/** One after the other: they share the name of their view. */
function selectedAlone(drawn: Input, given: Given): Promise<readonly string[] | undefined> {
  const asked = turn.then(() => selected(made.session, drawn, given));
  turn = asked.catch(() => undefined);
  return asked;
}
