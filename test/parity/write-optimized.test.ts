import { describe, expect, it } from 'vitest';
import type { DataFrame, Session } from '../../src/index.ts';
import { type DeltaBench, deltaBench } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/**
 * Optimized writes. Rows come into one file for each partition in any case, up to a size; whether a write is optimized shows in that size,
 * which is made small here.
 */

const enabled = 'spark.databricks.delta.optimizeWrite.enabled';
const binSize = { 'spark.databricks.delta.optimizeWrite.binSize': '64kb' };
const rowCount = 60_000;

describe('optimized writes', () => {
  const bench = deltaBench(binSize);

  it('B13: small parts of a partition are combined before files are written', async () => {
    const { session, path } = bench();
    const parts = Array.from({ length: 12 }, (_, part) => session.range(part * 10, part * 10 + 10).selectExpr('id', 'id % 3 AS p'));
    const all = parts.reduce((left, right) => left.union(right));
    await all.write.format('delta').partitionBy('p').option('optimizeWrite', 'true').save(path('combined'));
    expect(filesOf(bench(), 'combined', 0)).toBe(3);
    await all.write.format('delta').mode('append').option('optimizeWrite', 'true').save(path('combined'));
    expect(filesOf(bench(), 'combined', 1)).toBe(3);
    await bench().agree('combined');
  });

  it('B13: it is off unless somebody asks for it', async () => {
    expect(await filesWritten('plain', {})).toBe(1);
  });

  it.each([
    { option: true, conf: false, property: false, optimized: true },
    { option: false, conf: true, property: true, optimized: false },
    { option: undefined, conf: true, property: false, optimized: true },
    { option: undefined, conf: false, property: true, optimized: false },
    { option: undefined, conf: undefined, property: true, optimized: true },
    { option: undefined, conf: undefined, property: false, optimized: false },
  ])(
    'B13: the option counts more than the session, the session more than the property: $option, $conf, $property',
    async ({ optimized, ...asked }) => {
      const name = `asked-${String(asked.option)}-${String(asked.conf)}-${String(asked.property)}`;
      const files = await filesWritten(name, asked);
      expect(files > 1).toBe(optimized);
    },
  );

  it('B13: the table property holds for INSERT and for the first write too', async () => {
    const { session, sql, at, path } = bench();
    await sql(`CREATE TABLE ${at('property')} (id BIGINT, v STRING) USING delta TBLPROPERTIES (delta.autoOptimize.optimizeWrite = true)`);
    rowsOf(session).createOrReplaceTempView('many');
    await sql(`INSERT INTO ${at('property')} SELECT * FROM many`);
    expect(filesOf(bench(), 'property', 1)).toBeGreaterThan(1);
    await rowsOf(session).write.format('delta').option('delta.autoOptimize.optimizeWrite', 'true').save(path('first'));
    expect(filesOf(bench(), 'first', 0)).toBeGreaterThan(1);
    await rowsOf(session).write.format('delta').option('optimizeWrite', 'true').save(path('first-option'));
    expect(filesOf(bench(), 'first-option', 0)).toBeGreaterThan(1);
    await sql(`CREATE TABLE selected USING delta TBLPROPERTIES (delta.autoOptimize.optimizeWrite = true) AS SELECT * FROM many`);
    expect(filesOf(bench(), 'warehouse/selected', 0)).toBeGreaterThan(1);
    await bench().agree('first');
  });

  it('B13: the session setting may be changed by SET, and the default of tables too', async () => {
    const session = bench().another(binSize);
    await session.sql(`SET ${enabled} = true`);
    await rowsOf(session).write.format('delta').save(bench().path('set'));
    expect(filesOf(bench(), 'set', 0)).toBeGreaterThan(1);
    await session.sql(`RESET ${enabled}`);
    await session.sql('SET spark.databricks.delta.properties.defaults.autoOptimize.optimizeWrite = true');
    await rowsOf(session).write.format('delta').save(bench().path('defaults'));
    expect(filesOf(bench(), 'defaults', 0)).toBeGreaterThan(1);
  });

  it('B13: values that are neither on nor off are refused', async () => {
    const { session, path, sql, at } = bench();
    const option = await refusalOf(session.range(1).write.format('delta').option('optimizeWrite', 'maybe').save(path('maybe')));
    expect(option).toMatchObject({ errorClass: 'DELTA_ILLEGAL_OPTION', sqlState: '42616' });
    expect(option.message).toBe("Invalid value 'maybe' for option 'optimizeWrite', it must be true or false");
    expect(await refusalOf(sql(`SET ${enabled} = maybe`))).toMatchObject({ errorClass: 'INVALID_CONF_VALUE.TYPE_MISMATCH' });
    const property = await refusalOf(
      sql(`CREATE TABLE ${at('maybe')} (id BIGINT) USING delta TBLPROPERTIES (delta.autoOptimize.optimizeWrite = 'maybe')`),
    );
    expect(property).toMatchObject({ errorClass: '_LEGACY_ERROR_TEMP_2045' });
  });

  /** Files of one append to a table, with the switch in three places. */
  async function filesWritten(
    name: string,
    asked: { readonly option?: boolean | undefined; readonly conf?: boolean | undefined; readonly property?: boolean | undefined },
  ): Promise<number> {
    const { sql, at, path, another } = bench();
    const property = asked.property === undefined ? '' : `TBLPROPERTIES (delta.autoOptimize.optimizeWrite = ${String(asked.property)})`;
    await sql(`CREATE TABLE ${at(name)} (id BIGINT, v STRING) USING delta ${property}`);
    const session = another(asked.conf === undefined ? binSize : { ...binSize, [enabled]: asked.conf });
    const writer = rowsOf(session).write.format('delta').mode('append');
    await (asked.option === undefined ? writer : writer.option('optimizeWrite', asked.option)).save(path(name));
    await session.stop();
    return filesOf(bench(), name, 1);
  }
});

/** Rows that are some hundred kilobytes as Parquet. */
function rowsOf(session: Session): DataFrame {
  return session.range(rowCount).selectExpr('id', 'md5(CAST(id AS STRING)) AS v');
}

function filesOf({ commit }: DeltaBench, name: string, version: number): number {
  return commit(name, version).filter(({ add }) => add !== undefined).length;
}
