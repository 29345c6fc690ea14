import { describe, expect, it } from 'vitest';
import { col, DeltaTable, type RowInput } from '../../src/index.ts';
import { sortedLines } from './oracle.ts';
import { canonicalRow } from './support/canonical-rows.ts';
import { engineBench, enginesMissing } from './support/engine-bench.ts';

/*
 * What DataFrames and DeltaTable write, read by every other engine: rows as they were given, through the formats' own paths for each type.
 */

const longest = 2n ** 63n - 1n;
const instants = ['0001-01-01T00:00:00.000000', '1582-10-10T12:00:00.000001', '1969-12-31T23:59:59.999999', '9999-12-31T23:59:59.999999'];

describe.skipIf(enginesMissing)('frames written by us', () => {
  const bench = engineBench();

  it('keep values of all types at their extremes, nested in lists, maps and structs', async () => {
    const path = bench().path('extremes');
    const schema = `id INT, i8 BIGINT, f8 DOUBLE, f4 FLOAT, d DECIMAL(38, 18), s STRING, b BINARY, day DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ,
      l ARRAY<BIGINT>, m MAP<STRING, DOUBLE>, n STRUCT<a: ARRAY<STRUCT<x: BINARY, y: MAP<INT, DECIMAL(10, 3)>>>, b: STRUCT<t: TIMESTAMP>>`;
    const rows: readonly RowInput[] = [
      { id: 0 },
      ...[longest, -longest - 1n, 2n ** 53n + 1n, 0n].map((i8, index) => ({
        id: 1 + index,
        i8,
        f8: [Number.MAX_VALUE, -Number.MIN_VALUE, -0, Number.NaN][index],
        f4: [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1.5, Number.NaN][index],
        d: ['99999999999999999999.999999999999999999', '-99999999999999999999.999999999999999999', '0.000000000000000001', '0'][index],
        s: ['', 'a\u0000b', '😀 ünï\n"\\', 'x'.repeat(3_000)][index],
        b: Uint8Array.from([[], [0], [255, 0, 128], [1, 2, 3]][index] ?? []),
        day: instants[index]?.slice(0, 10),
        ts: `${instants[index] ?? ''}Z`,
        ntz: instants[index],
        l: [[], [i8, null], [null], [1n, 2n, 3n]][index],
        m: new Map<string, number | null>([[], [['', -0] as const], [['k', null] as const, ['a', 1e300] as const], []][index] ?? []),
        n:
          index === 0
            ? null
            : { a: [{ x: Uint8Array.of(index), y: new Map([[index, '1.250']]) }, null], b: { t: `${instants[index] ?? ''}Z` } },
      })),
    ];
    const frame = bench().session.createDataFrame(rows, schema);
    await frame.write.format('delta').mode('append').save(path);
    const written = sortedLines((await frame.collect()).map(canonicalRow));
    expect(written).toHaveLength(rows.length);
    expect(await bench().expectAgreement(path)).toEqual(written);
  });

  it('keep partition values of all types', async () => {
    const path = bench().path('partitions');
    const schema =
      'id INT, bo BOOLEAN, i1 TINYINT, i2 SMALLINT, i4 INT, i8 BIGINT, d DECIMAL(20, 4), day DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, s STRING';
    const rows: readonly RowInput[] = [
      { id: 0 },
      ...[0, 1, 2].map((index) => ({
        id: 1 + index,
        bo: index === 1,
        i1: [-128, 127, 0][index],
        i2: [-32_768, 32_767, 0][index],
        i4: [-2_147_483_648, 2_147_483_647, 0][index],
        i8: [-longest - 1n, longest, 0n][index],
        d: ['-1234567890123456.7890', '0.0001', '10'][index],
        day: ['0001-01-01', '2024-02-29', '9999-12-31'][index],
        ts: ['1969-12-31T23:59:59.999999Z', '2024-02-29T12:30:00Z', '2262-01-01T00:00:00.1Z'][index],
        ntz: ['1900-01-01T00:00:00.000001', '2024-02-29T12:30:00', '2024-02-29T12:30:00.5'][index],
        s: ['a/b', "it's 100% = ü😀 {x}", ' leading : ? # '][index],
      })),
    ];
    const frame = bench().session.createDataFrame(rows, schema);
    const names = (await frame.columns).filter((name) => name !== 'id');
    await frame.write
      .format('delta')
      .partitionBy(...names)
      .save(path);
    expect(await bench().expectAgreement(path)).toEqual(sortedLines((await frame.collect()).map(canonicalRow)));
  });

  it('keep rows through every mode of writing', async () => {
    const { session } = bench();
    const path = bench().path('modes');
    const name = `delta.\`${path}\``;
    const frame = (ids: readonly number[], p: string) =>
      session.createDataFrame(
        ids.map((id) => ({ id, p })),
        'id INT, p STRING',
      );
    await frame([1, 2], 'a').write.format('delta').partitionBy('p').save(path);
    await frame([3], 'b').write.format('delta').mode('append').option('txnAppId', 'app').option('txnVersion', 1).save(path);
    await frame([3], 'b').write.format('delta').mode('append').option('txnAppId', 'app').option('txnVersion', 1).save(path);
    await frame([4], 'a').write.format('delta').mode('overwrite').option('replaceWhere', "p = 'a'").save(path);
    await frame([5], 'c').write.format('delta').mode('overwrite').option('partitionOverwriteMode', 'dynamic').save(path);
    const wider = session.createDataFrame([{ id: 6, p: 'c', more: 6n }], 'id INT, p STRING, more BIGINT');
    await wider.write.format('delta').mode('append').option('mergeSchema', true).save(path);
    await frame([7], 'd').writeTo(name).append();
    await frame([8], 'b').writeTo(name).overwrite("p = 'b'");
    expect(await bench().expectAgreement(path)).toEqual(
      sortedLines([
        { id: 4, p: 'a', more: null },
        { id: 5, p: 'c', more: null },
        { id: 6, p: 'c', more: 6 },
        { id: 7, p: 'd', more: null },
        { id: 8, p: 'b', more: null },
      ]),
    );
    const other = session.createDataFrame([{ x: 'only' }], 'x STRING');
    await other.write.format('delta').mode('overwrite').option('overwriteSchema', true).save(path);
    expect(await bench().expectAgreement(path)).toEqual(['{"x":"only"}']);
  });

  it('keep rows through DeltaTable: build, merge, update, delete, optimise, restore', async () => {
    const { session, oracle } = bench();
    const path = bench().path('handle');
    const table = await DeltaTable.create(session)
      .location(path)
      .addColumn('id', 'BIGINT', { nullable: false })
      .addColumn('v', 'STRING', { comment: 'value' })
      .addColumn('twice', 'BIGINT', { generatedAlwaysAs: 'id * 2' })
      .property('delta.enableDeletionVectors', 'true')
      .property('delta.enableChangeDataFeed', 'true')
      .execute();
    const source = session.range(6).select(col('id'), col('id').cast('string').alias('v'));
    await table
      .alias('t')
      .merge(source.alias('s'), 't.id = s.id')
      .whenNotMatchedInsert({ values: { id: 's.id', v: 's.v' } })
      .execute();
    await table.update({ condition: 'id % 2 = 0', set: { v: "concat(v, '!')" } });
    await table.delete('id = 5');
    await session
      .createDataFrame([{ id: 9n, v: 'nine' }], 'id BIGINT, v STRING')
      .write.format('delta')
      .mode('append')
      .save(path);
    await table.optimize().executeCompaction();
    const expected = ['0!', '1', '2!', '3', '4!'].map((v, id) => ({ id, v, twice: 2 * id }));
    expect(await bench().expectAgreement(path)).toEqual(sortedLines([...expected, { id: 9, v: 'nine', twice: 18 }]));
    const changes = await bench().changeLines('ours', path);
    expect(await bench().changeLines('spark', path)).toEqual(changes);
    expect(await bench().changeLines('delta-rs', path)).toEqual(changes);
    await table.restoreToVersion(3);
    expect(await bench().expectAgreement(path)).toEqual(sortedLines(expected));
    expect(await bench().changeLines('spark', path)).toEqual(await bench().changeLines('ours', path));
    const [detail] = await oracle.sql(`DESCRIBE DETAIL delta.\`${path}\``);
    expect(detail).toMatchObject({ format: 'delta', minReaderVersion: 3, minWriterVersion: 7 });
  });
});
