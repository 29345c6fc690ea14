import { describe, expect, it } from 'vitest';
import { col, DeltaTable, expr, functions, lit, type Row } from '../../src/index.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** Merges with every clause. */

const columns = 'id BIGINT, v STRING, n INT';
const target = [
  { id: 1n, v: 'one', n: 1 },
  { id: 2n, v: 'two', n: 2 },
  { id: 3n, v: 'three', n: 3 },
];
const source = [
  { id: 2n, v: 'TWO', n: 20 },
  { id: 3n, v: 'THREE', n: 30 },
  { id: 4n, v: 'FOUR', n: 40 },
  { id: 5n, v: 'FIVE', n: 50 },
];
const result = (affected: bigint, updated: bigint, deleted: bigint, inserted: bigint) => [
  { num_affected_rows: affected, num_updated_rows: updated, num_deleted_rows: deleted, num_inserted_rows: inserted },
];
const mergeMetrics = [
  'executionTimeMs',
  'materializeSourceTimeMs',
  'numOutputRows',
  'numSourceRows',
  'numTargetBytesAdded',
  'numTargetBytesRemoved',
  'numTargetChangeFilesAdded',
  'numTargetDeletionVectorsAdded',
  'numTargetDeletionVectorsRemoved',
  'numTargetDeletionVectorsUpdated',
  'numTargetFilesAdded',
  'numTargetFilesRemoved',
  'numTargetRowsCopied',
  'numTargetRowsDeleted',
  'numTargetRowsInserted',
  'numTargetRowsMatchedDeleted',
  'numTargetRowsMatchedUpdated',
  'numTargetRowsNotMatchedBySourceDeleted',
  'numTargetRowsNotMatchedBySourceUpdated',
  'numTargetRowsUpdated',
  'rewriteTimeMs',
  'scanTimeMs',
];

describe('merge', () => {
  const bench = deltaBench();

  it.each(['false', 'true'])(
    'a random value is drawn once for a row: its image in the change feed has it too (deletion vectors: %s)',
    async (vectors) => {
      const at = bench().at(`drawn-${vectors}`);
      await bench().sql(`CREATE TABLE ${at} (id INT, v DOUBLE, n STRING) USING delta
      TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = '${vectors}')`);
      await bench().sql(`INSERT INTO ${at} VALUES (1, -1, 'a'), (2, -1, 'b'), (3, -1, 'c')`);
      await bench().sql(`MERGE INTO ${at} t USING (SELECT 1 AS id) s ON t.id = s.id
      WHEN MATCHED THEN UPDATE SET v = rand() + s.id, n = concat(t.n, uuid(), uuid())
      WHEN NOT MATCHED BY SOURCE AND t.id = 2 THEN UPDATE SET v = rand() + 10`);
      const images = `(SELECT * FROM table_changes_by_path('${bench().path(`drawn-${vectors}`)}', 2) WHERE _change_type = 'update_postimage')`;
      const same = await bench().sql(
        `SELECT t.id, floor(t.v) AS v, length(t.n) AS n FROM ${at} t JOIN ${images} c ON t.v = c.v AND t.n = c.n ORDER BY t.id`,
      );
      expect(same).toEqual([
        { id: 1, v: 1n, n: 73 },
        { id: 2, v: 10n, n: 1 },
      ]);
      const refusal = await refusalOf(() =>
        bench().sql(
          `MERGE INTO ${at} t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = CAST(shuffle(array(t.id, s.id)) AS STRING)`,
        ),
      );
      expect(refusal).toMatchObject({ errorClass: 'INVALID_NON_DETERMINISTIC_EXPRESSIONS' });
    },
  );

  it('B10: an upsert with UPDATE * and INSERT *, SQL and DeltaTable', async () => {
    const expected = [target[0], ...source];
    await fill('upsert-sql');
    const answer = await bench().sql(`MERGE INTO ${bench().at('upsert-sql')} AS t USING source AS s ON t.id = s.id
      WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *`);
    expect(answer).toEqual(result(4n, 2n, 0n, 2n));
    await fill('upsert');
    const merged = await (await merging('upsert')).whenMatchedUpdateAll().whenNotMatchedInsertAll().execute();
    expect(await merged.collect()).toEqual(result(4n, 2n, 0n, 2n));
    for (const name of ['upsert-sql', 'upsert']) {
      expect(await bench().rows(name)).toEqual(expected);
      const entry = await bench().lastEntry(name);
      expect(entry).toMatchObject({
        version: 1n,
        operation: 'MERGE',
        readVersion: 0n,
        isolationLevel: 'Serializable',
        isBlindAppend: false,
      });
      expect(entry['operationParameters']).toEqual(
        new Map([
          ['predicate', '["(id = id)"]'],
          ['matchedPredicates', '[{"actionType":"update"}]'],
          ['notMatchedPredicates', '[{"actionType":"insert"}]'],
          ['notMatchedBySourcePredicates', '[]'],
        ]),
      );
      expect([...metricsOf(entry).keys()].sort()).toEqual(mergeMetrics);
      expect(
        numbersOf(entry, 'numSourceRows', 'numTargetRowsUpdated', 'numTargetRowsInserted', 'numTargetRowsCopied', 'numOutputRows'),
      ).toEqual([4, 2, 2, 1, 5]);
      await bench().agree(name);
    }
  });

  it('B10: every clause with conditions, of several the first that holds, SQL and DeltaTable', async () => {
    const expected = [
      { id: 1n, v: 'one', n: -1 },
      { id: 3n, v: 'three+THREE', n: 33 },
      { id: 4n, v: 'four', n: null },
      { id: 5n, v: 'FIVE', n: 50 },
    ];
    const answer = result(5n, 2n, 1n, 2n);
    await fill('clauses-sql');
    expect(
      await bench().sql(`MERGE INTO ${bench().at('clauses-sql')} t USING source s ON t.id = s.id
        WHEN MATCHED AND s.v = 'TWO' THEN DELETE
        WHEN MATCHED AND s.n > 100 THEN UPDATE SET t.n = 0
        WHEN MATCHED THEN UPDATE SET v = concat(t.v, '+', s.v), n = t.n + s.n
        WHEN NOT MATCHED AND s.id = 4 THEN INSERT (id, v) VALUES (s.id, lower(s.v))
        WHEN NOT MATCHED BY TARGET THEN INSERT *
        WHEN NOT MATCHED BY SOURCE AND t.id = 99 THEN DELETE
        WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = -t.n`),
    ).toEqual(answer);
    await fill('clauses');
    const merge = (await merging('clauses'))
      .whenMatchedDelete("s.v = 'TWO'")
      .whenMatchedUpdate({ condition: col('s.n').gt(100), set: { n: lit(0) } })
      .whenMatchedUpdate({ set: { v: "concat(t.v, '+', s.v)", n: expr('t.n + s.n') } })
      .whenNotMatchedInsert({ condition: 's.id = 4', values: { id: 's.id', v: functions.lower('s.v') } })
      .whenNotMatchedInsertAll()
      .whenNotMatchedBySourceDelete('t.id = 99')
      .whenNotMatchedBySourceUpdate({ set: { n: '-t.n' } });
    expect(await (await merge.execute()).collect()).toEqual(answer);
    for (const name of ['clauses-sql', 'clauses']) {
      expect(await bench().rows(name)).toEqual(expected);
      const parameters = (await bench().lastEntry(name))['operationParameters'] as ReadonlyMap<string, string>;
      expect(JSON.parse(parameters.get('matchedPredicates') ?? '')).toEqual([
        { predicate: "(v = 'TWO')", actionType: 'delete' },
        { predicate: '(n > 100)', actionType: 'update' },
        { actionType: 'update' },
      ]);
      expect(JSON.parse(parameters.get('notMatchedBySourcePredicates') ?? '')).toEqual([
        { predicate: '(id = 99)', actionType: 'delete' },
        { actionType: 'update' },
      ]);
      await bench().agree(name);
    }
  });

  it('B10: conditions with UPDATE * and INSERT *, and deletes of what the source lacks', async () => {
    await fill('synced');
    const merge = (await merging('synced'))
      .whenMatchedUpdateAll('s.n < 25')
      .whenNotMatchedInsertAll(col('s.id').lt(5))
      .whenNotMatchedBySourceDelete();
    expect(await (await merge.execute()).collect()).toEqual(result(3n, 1n, 1n, 1n));
    expect(await bench().rows('synced')).toEqual([source[0], target[2], source[2]]);
    await bench().agree('synced');
  });

  it('B10: null keys never match, and duplicates of the source are all inserted', async () => {
    const { sql, at, rows } = bench();
    await sql(`CREATE TABLE ${at('keys')} (id BIGINT, v STRING) USING delta`);
    await sql(`INSERT INTO ${at('keys')} VALUES (NULL, 'kept'), (1, 'a')`);
    const answer =
      await sql(`MERGE INTO ${at('keys')} t USING (SELECT * FROM VALUES (CAST(NULL AS BIGINT), 'new'), (7L, 'b'), (7L, 'c') AS q(id, v)) s ON t.id = s.id
      WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *`);
    expect(answer).toEqual(result(3n, 0n, 0n, 3n));
    expect((await rows('keys', 'v')).map(({ id, v }) => [id, v])).toEqual([
      [1n, 'a'],
      [7n, 'b'],
      [7n, 'c'],
      [null, 'kept'],
      [null, 'new'],
    ]);
    await bench().agree('keys');
  });

  it('B10: a row that several source rows want to change is refused, and nothing is changed', async () => {
    await fill('ambiguous');
    const doubled = frameOf([...source, { id: 2n, v: 'again', n: 21 }]);
    doubled.createOrReplaceTempView('doubled');
    const refusals = [
      await refusalOf(bench().sql(`MERGE INTO ${bench().at('ambiguous')} t USING doubled s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *`)),
      await refusalOf(async () =>
        (await tableAt('ambiguous')).alias('t').merge(doubled.alias('s'), 't.id = s.id').whenMatchedUpdateAll().execute(),
      ),
      await refusalOf(async () =>
        (await tableAt('ambiguous'))
          .alias('t')
          .merge(doubled.alias('s'), 't.id = s.id')
          .whenMatchedDelete('s.n = 20')
          .whenMatchedUpdateAll()
          .execute(),
      ),
    ];
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ errorClass: 'DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE', sqlState: '21506' });
      expect(refusal.message).toMatch(
        /^Cannot perform Merge as multiple source rows matched and attempted to modify the same\ntarget row in the Delta table in possibly conflicting ways\./,
      );
    }
    expect(await bench().version('ambiguous')).toBe(0);
  });

  it('B10: it is clear what a lone delete wants; conditions that leave one source row make nothing clear, as in Spark', async () => {
    const doubled = frameOf([...source, { id: 2n, v: 'again', n: 21 }]).alias('s');
    await fill('clear-delete');
    const deleted = await (await tableAt('clear-delete')).alias('t').merge(doubled, 't.id = s.id').whenMatchedDelete().execute();
    expect(await deleted.collect()).toEqual(result(2n, 0n, 2n, 0n));
    expect(await bench().rows('clear-delete')).toEqual([target[0]]);
    await fill('unclear-update');
    const updating = (await tableAt('unclear-update')).alias('t').merge(doubled, 't.id = s.id').whenMatchedUpdateAll('s.n <> 20').execute();
    const errorClass = 'DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE';
    expect(await refusalOf(updating)).toMatchObject({ errorClass });
    expect(await bench().rows('unclear-update')).toEqual(target);
    await bench().agree('unclear-update');
  });

  it('B10: schema evolution adds the columns of the source, by method, statement and session switch', async () => {
    const wider = bench().session.createDataFrame(
      [
        { id: 2, v: 'TWO', extra: 2.5 },
        { id: 4, v: 'FOUR', extra: 4.5 },
      ],
      'id BIGINT, v STRING, extra DOUBLE',
    );
    wider.createOrReplaceTempView('wider');
    const expected = [
      { ...target[0], extra: null },
      { id: 2n, v: 'TWO', n: 2, extra: 2.5 },
      { ...target[2], extra: null },
      { id: 4n, v: 'FOUR', n: null, extra: 4.5 },
    ];
    await fill('evolved');
    await (await tableAt('evolved'))
      .alias('t')
      .merge(wider.alias('s'), 't.id = s.id')
      .withSchemaEvolution()
      .whenMatchedUpdateAll()
      .whenNotMatchedInsertAll()
      .execute();
    await fill('evolved-sql');
    const clauses = 'USING wider s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *';
    await bench().sql(`MERGE WITH SCHEMA EVOLUTION INTO ${bench().at('evolved-sql')} t ${clauses}`);
    await fill('evolved-session');
    const key = 'spark.databricks.delta.schema.autoMerge.enabled';
    bench().session.conf.set(key, true);
    await bench()
      .sql(`MERGE INTO ${bench().at('evolved-session')} t ${clauses}`)
      .finally(() => {
        bench().session.conf.unset(key);
      });
    for (const name of ['evolved', 'evolved-sql', 'evolved-session']) {
      expect(await bench().rows(name)).toEqual(expected);
      await bench().agree(name);
    }
  });

  it('B10: without schema evolution columns beyond the table are left out, and columns it needs must be there', async () => {
    await fill('fixed');
    const wider = bench().session.createDataFrame([{ id: 2, v: 'TWO', n: 20, extra: 2.5 }], 'id BIGINT, v STRING, n INT, extra DOUBLE');
    await (await tableAt('fixed')).alias('t').merge(wider.alias('s'), 't.id = s.id').whenMatchedUpdateAll().execute();
    expect(await bench().rows('fixed')).toEqual([target[0], source[0], target[2]]);
    const narrow = bench()
      .session.createDataFrame([{ id: 9 }], 'id BIGINT')
      .alias('s');
    const refusal = await refusalOf(async () =>
      (await tableAt('fixed')).alias('t').merge(narrow, 't.id = s.id').whenNotMatchedInsertAll().execute(),
    );
    expect(refusal).toMatchObject({ errorClass: 'DELTA_MERGE_UNRESOLVED_EXPRESSION', sqlState: '42601' });
    expect(refusal.message).toBe('Cannot resolve v in INSERT clause given columns s.id.');
    expect(await bench().version('fixed')).toBe(1);
  });

  it.each([
    ['MATCHED', 'WHEN MATCHED THEN DELETE WHEN MATCHED THEN UPDATE SET *', 'NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION'],
    [
      'NOT MATCHED',
      'WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)',
      'NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION',
    ],
    [
      'NOT MATCHED BY SOURCE',
      'WHEN NOT MATCHED BY SOURCE THEN DELETE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = 0',
      'NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION',
    ],
  ])('B10: of several clauses of a kind only the last one may have no condition: %s', async (_kind, clauses, errorClass) => {
    const name = `non-last-${errorClass}`;
    await fill(name);
    const refusal = await refusalOf(bench().sql(`MERGE INTO ${bench().at(name)} t USING source s ON t.id = s.id ${clauses}`));
    expect(refusal).toMatchObject({ errorClass, sqlState: '42613' });
    expect(refusal.message).toMatch(
      /^When there are more than one .* clauses in a MERGE statement, only the last .* clause can omit the condition\./,
    );
    expect(await bench().version(name)).toBe(0);
  });

  it('B10: the same with DeltaTable, and merges without clauses or with unknown columns', async () => {
    await fill('refused');
    const merge = await merging('refused');
    for (const [attempt, errorClass] of [
      [merge.whenMatchedDelete().whenMatchedUpdateAll(), 'NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION'],
      [merge.whenNotMatchedInsertAll().whenNotMatchedInsertAll('s.id = 1'), 'NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION'],
      [merge.whenNotMatchedBySourceDelete().whenNotMatchedBySourceDelete(), 'NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION'],
      [merge, 'DELTA_MERGE_MISSING_WHEN'],
      [merge.whenMatchedUpdate({ set: { nope: '1' } }), 'DELTA_MERGE_UNRESOLVED_EXPRESSION'],
      [merge.whenMatchedDelete('s.nope = 1'), 'DELTA_MERGE_UNRESOLVED_EXPRESSION'],
      [merge.whenNotMatchedInsert({ values: { id: 't.id' } }), 'DELTA_MERGE_UNRESOLVED_EXPRESSION'],
    ] as const) {
      expect(await refusalOf(attempt.execute())).toMatchObject({ errorClass });
    }
    expect(await bench().version('refused')).toBe(0);
  });

  it('B10: a merge that changes nothing makes no version', async () => {
    await fill('nothing');
    const none = frameOf([{ id: 99n, v: 'x', n: 0 }]).alias('s');
    const merged = await (await tableAt('nothing')).alias('t').merge(none, 't.id = s.id').whenMatchedUpdateAll().execute();
    expect(await merged.collect()).toEqual(result(0n, 0n, 0n, 0n));
    expect(await bench().version('nothing')).toBe(0);
  });

  it('B10: sources: a table, a query, a version of the table itself; and a partitioned target', async () => {
    const { session, sql, path, at, rows, agree } = bench();
    await session.createDataFrame(target, columns).write.format('delta').partitionBy('n').save(path('self'));
    await sql(`DELETE FROM ${at('self')} WHERE id = 1`);
    const answer = await sql(
      `MERGE INTO ${at('self')} t USING ${at('self')} VERSION AS OF 0 s ON t.id = s.id AND t.n = s.n WHEN NOT MATCHED THEN INSERT *`,
    );
    expect(answer).toEqual(result(1n, 0n, 0n, 1n));
    expect(await rows('self')).toEqual(target);
    await agree('self');
    await sql(`MERGE INTO ${at('self')} USING (SELECT id AS k FROM source) ON id = k WHEN MATCHED THEN UPDATE SET n = n + 1`);
    expect((await rows('self')).map((row) => row['n'])).toEqual([1, 3, 4]);
    await agree('self');
  });

  it('B10: with deletion vectors, matched rows are marked and no row is copied', async () => {
    await fill('vectors', { 'delta.enableDeletionVectors': 'true' });
    const merge = (await merging('vectors')).whenMatchedUpdateAll().whenNotMatchedInsertAll().whenNotMatchedBySourceDelete();
    expect(await (await merge.execute()).collect()).toEqual(result(5n, 2n, 1n, 2n));
    expect(numbersOf(await bench().lastEntry('vectors'), 'numTargetRowsCopied', 'numTargetRowsNotMatchedBySourceDeleted')).toEqual([0, 1]);
    expect(await bench().rows('vectors')).toEqual(source);
    await bench().agree('vectors');
  });

  async function fill(name: string, properties: Readonly<Record<string, string>> = {}): Promise<void> {
    await frameOf(target).write.format('delta').options(properties).save(bench().path(name));
    frameOf(source).createOrReplaceTempView('source');
  }

  function frameOf(rows: readonly Row[]) {
    return bench().session.createDataFrame(rows, columns);
  }

  function tableAt(name: string): Promise<DeltaTable> {
    return DeltaTable.forPath(bench().session, bench().path(name));
  }

  async function merging(name: string) {
    return (await tableAt(name)).alias('t').merge(frameOf(source).alias('s'), col('t.id').eq(col('s.id')));
  }
});

function metricsOf(entry: Row): ReadonlyMap<string, string> {
  return entry['operationMetrics'] as ReadonlyMap<string, string>;
}

function numbersOf(entry: Row, ...names: readonly string[]): readonly number[] {
  return names.map((name) => Number(metricsOf(entry).get(name)));
}
