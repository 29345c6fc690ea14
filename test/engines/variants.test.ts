import { describe, expect, it } from 'vitest';
import { sortedLines } from './oracle.ts';
import { canonicalRow } from './support/canonical-rows.ts';
import { engineBench, enginesMissing } from './support/engine-bench.ts';
import { fullName, icebergBench, sqliteCatalog } from './support/iceberg-bench.ts';

/*
 * Variants that we and Spark write, one after the other into the same table, are the same values to both, in both formats.
 */

const documents = [
  '{"a": 1, "b": [true, null, "é\\n"], "c": {"d": -0.5}}',
  '[1, 127, 128, 32768, 2147483648, 9223372036854775807, 12345678901234567890123456789012345678]',
  '[0.1, 1e300, -1.5e-7, 99999999999999999.99]',
  `"${'long text '.repeat(40)}"`,
  '[{"x": 1, "y": "t"}, {"x": 2.5, "z": [1]}, {"z": [0.5, null]}]',
  '[null, [1, 0.25], []]',
  '[1.5e3, 7]',
  '[0.5, true]',
  '{"null inside": null}',
  '{}',
  '[]',
];

const insertion = (table: string, from: number): string =>
  `INSERT INTO ${table} SELECT id, parse_json(j) FROM VALUES ${documents.map((json, index) => `(${from + index}, '${json.replaceAll('\\', '\\\\')}')`).join(', ')}, (${from + documents.length}, NULL) AS s(id, j)`;

const question = (table: string): string =>
  `SELECT id, to_json(v) AS j, schema_of_variant(v) AS s, v IS NULL AS n, is_variant_null(v) AS vn, ` +
  `try_variant_get(v, '$.a', 'int') AS a, try_variant_get(v, '$.b[2]', 'string') AS b, try_variant_get(v, '$[3]', 'bigint') AS i FROM ${table}`;

describe.skipIf(enginesMissing)('variants of ours and of Spark', () => {
  const delta = engineBench();
  const iceberg = icebergBench((directory) => [sqliteCatalog(directory)]);

  it('are the same values in a Delta table that both write', async () => {
    const { session, oracle } = delta();
    const table = `delta.\`${delta().path('variants')}\``;
    await session.sql(`CREATE TABLE ${table} (id INT, v VARIANT) USING delta`);
    await session.sql(insertion(table, 0));
    await oracle.sql(insertion(table, 100));
    await session.sql(`UPDATE ${table} SET v = parse_json('{"a": 7}') WHERE id = 101`);
    const ours = sortedLines((await (await session.sql(question(table))).collect()).map(canonicalRow));
    expect(ours).toHaveLength(2 * (documents.length + 1));
    expect(ours).toEqual(sortedLines(await oracle.sql(question(table))));
  });

  it('are the same values in an Iceberg table that both write', async () => {
    const table = fullName(iceberg().table('ours', 'variants'));
    await iceberg().session.sql(`CREATE TABLE ${table} (id INT, v VARIANT) USING iceberg TBLPROPERTIES ('format-version' = '3')`);
    await iceberg().session.sql(insertion(table, 0));
    await iceberg().oracle.sql(insertion(table, 100));
    await iceberg().session.sql(`UPDATE ${table} SET v = parse_json('{"a": 7}') WHERE id = 101`);
    const ours = await iceberg().ours(question(table));
    expect(ours).toHaveLength(2 * (documents.length + 1));
    expect(ours).toEqual(await iceberg().spark(question(table)));
  });
});
