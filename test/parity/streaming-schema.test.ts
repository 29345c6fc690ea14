import { describe, expect, it } from 'vitest';
import type { Row } from '../../src/index.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';

/**
 * Streams over tables whose schema changes. What Delta does: `DeltaSourceSuite` (allow and disallow to change the schema, startingVersion with
 * mergeSchema), `DeltaSourceColumnMappingSuite` (column addition, upgrade to name mode, drop and rename), `TypeWideningStreamingSourceSuite`.
 */
describe('streams and changes of the schema', () => {
  const bench = deltaBench();
  const mapped = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableChangeDataFeed' = 'true')";
  const feedOn = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')";

  async function steps(name: string, ...statements: readonly string[]): Promise<void> {
    for (const statement of statements) await bench().sql(statement.replaceAll('{t}', bench().at(name)));
  }

  type Options = Readonly<Record<string, string>>;

  /** The rows of the batches that there are now; what fails the stream is thrown. */
  async function drain(name: string, options: Options, checkpoint: string = `${name}-checkpoint`): Promise<readonly Row[]> {
    const rows: Row[] = [];
    const query = await bench()
      .session.readStream.format('delta')
      .options(options)
      .load(bench().path(name))
      .writeStream.foreachBatch(async (batch) => {
        const plain = batch.drop('_commit_version', '_commit_timestamp', '_change_type');
        rows.push(...(await plain.collect()));
      })
      .option('checkpointLocation', bench().path(checkpoint))
      .trigger({ availableNow: true })
      .start();
    await query.awaitTermination();
    return rows;
  }

  /** A query that stays open while the table changes under it: its rows, and how it ends. */
  async function open(name: string, options: Options): Promise<{ rows: Row[]; settle: () => Promise<unknown>; stop: () => Promise<void> }> {
    const rows: Row[] = [];
    const query = await bench()
      .session.readStream.format('delta')
      .options(options)
      .load(bench().path(name))
      .writeStream.foreachBatch(async (batch) => {
        rows.push(...(await batch.drop('_commit_version', '_commit_timestamp', '_change_type').collect()));
      })
      .option('checkpointLocation', bench().path(`${name}-checkpoint`))
      .start();
    const settle = async (): Promise<unknown> => {
      try {
        await query.processAllAvailable();
        return 'fine';
      } catch (error) {
        return (error as { readonly cause?: unknown }).cause;
      }
    };
    return { rows, settle, stop: () => query.stop() };
  }

  const kinds: readonly (readonly [string, Options])[] = [
    ['appended rows', {}],
    ['the change feed', { readChangeFeed: 'true' }],
  ];

  describe.each(kinds)('of %s', (kind, kindOptions) => {
    const prefix = kind === 'appended rows' ? 'rows' : 'feed';
    const fromZero = { ...kindOptions, startingVersion: '0' };

    it('keep values with their columns when a column moves', async () => {
      const name = `${prefix}-moved`;
      await steps(
        name,
        `CREATE TABLE {t} (id INT, a STRING, b STRING) USING delta ${feedOn}`,
        "INSERT INTO {t} VALUES (1, 'a1', 'b1')",
        'ALTER TABLE {t} ALTER COLUMN b FIRST',
        "INSERT INTO {t} (id, a, b) VALUES (2, 'a2', 'b2')",
      );
      const rows = await drain(name, fromZero);
      expect(rows).toEqual([
        { id: 1, a: 'a1', b: 'b1' },
        { id: 2, a: 'a2', b: 'b2' },
      ]);
      expect(Object.keys(rows[0] ?? {})).toEqual(['b', 'id', 'a']);
    });

    it('go on under a moved column, a comment and a property without a new start', async () => {
      const name = `${prefix}-moving`;
      await steps(name, `CREATE TABLE {t} (id INT, a STRING, b STRING) USING delta ${feedOn}`, "INSERT INTO {t} VALUES (1, 'a1', 'b1')");
      const { rows, settle, stop } = await open(name, fromZero);
      expect(await settle()).toBe('fine');
      await steps(
        name,
        'ALTER TABLE {t} ALTER COLUMN b FIRST',
        "ALTER TABLE {t} ALTER COLUMN a COMMENT 'said'",
        "ALTER TABLE {t} SET TBLPROPERTIES ('team' = 'me')",
        "INSERT INTO {t} (id, a, b) VALUES (2, 'a2', 'b2')",
      );
      expect(await settle()).toBe('fine');
      await stop();
      expect(rows).toEqual([
        { id: 1, a: 'a1', b: 'b1' },
        { id: 2, a: 'a2', b: 'b2' },
      ]);
    });

    it('read across an added column, also inside a struct: older rows have NULL', async () => {
      const name = `${prefix}-added`;
      await steps(
        name,
        `CREATE TABLE {t} (id INT, s STRUCT<x: INT>) USING delta ${feedOn}`,
        "INSERT INTO {t} VALUES (1, named_struct('x', 10))",
        'ALTER TABLE {t} ADD COLUMNS (v STRING FIRST, s.y INT)',
        "INSERT INTO {t} (id, s, v) VALUES (2, named_struct('x', 20, 'y', 21), 'v2')",
      );
      expect(await drain(name, fromZero)).toEqual([
        { id: 1, s: { x: 10, y: null }, v: null },
        { id: 2, s: { x: 20, y: 21 }, v: 'v2' },
      ]);
    });

    it('fail once when a column is added under them, and go on with it after a new start', async () => {
      const name = `${prefix}-adding`;
      await steps(name, `CREATE TABLE {t} (id INT) USING delta ${feedOn}`, 'INSERT INTO {t} VALUES (1)');
      const { rows, settle } = await open(name, kindOptions);
      expect(await settle()).toBe('fine');
      await steps(name, 'INSERT INTO {t} VALUES (2)', 'ALTER TABLE {t} ADD COLUMN (v STRING)', "INSERT INTO {t} VALUES (3, 'c')");
      expect(await settle()).toMatchObject({
        errorClass: 'DELTA_SCHEMA_CHANGED_WITH_VERSION',
        sqlState: 'KD007',
        hint: 'start the query again: it goes on from its checkpoint with the new schema',
      });
      const later = await drain(name, kindOptions);
      const byId = [...rows, ...later].toSorted((a, b) => Number(a['id']) - Number(b['id']));
      expect(byId.map(({ id }) => id)).toEqual([1, 2, 3]);
      expect(later.at(-1)).toEqual({ id: 3, v: 'c' });
    });

    it('read a column that became wider after a new start', async () => {
      const name = `${prefix}-wider`;
      const wide = "TBLPROPERTIES ('delta.enableTypeWidening' = 'true', 'delta.enableChangeDataFeed' = 'true')";
      await steps(name, `CREATE TABLE {t} (id INT) USING delta ${wide}`, 'INSERT INTO {t} VALUES (1)');
      const { settle } = await open(name, fromZero);
      expect(await settle()).toBe('fine');
      await steps(name, 'ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT', 'INSERT INTO {t} VALUES (9000000000)');
      expect(await settle()).toMatchObject({ errorClass: 'DELTA_SCHEMA_CHANGED_WITH_STARTING_OPTIONS', parameters: { retryable: 'true' } });
      expect(await drain(name, fromZero)).toEqual([{ id: 9_000_000_000n }]);
      expect(await drain(name, fromZero, `${name}-anew`)).toEqual([{ id: 1n }, { id: 9_000_000_000n }]);
    });

    it('go on when the table becomes a mapped one', async () => {
      const name = `${prefix}-mapped`;
      await steps(name, `CREATE TABLE {t} (id INT, v STRING) USING delta ${feedOn}`, "INSERT INTO {t} VALUES (1, 'a')");
      const { rows, settle, stop } = await open(name, fromZero);
      expect(await settle()).toBe('fine');
      await steps(name, "ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "INSERT INTO {t} VALUES (2, 'b')");
      expect(await settle()).toBe('fine');
      await stop();
      expect(rows).toEqual([
        { id: 1, v: 'a' },
        { id: 2, v: 'b' },
      ]);
      await steps(name, 'ALTER TABLE {t} ADD COLUMN (w INT)', "INSERT INTO {t} VALUES (3, 'c', 30)");
      expect(await drain(name, fromZero)).toEqual([{ id: 3, v: 'c', w: 30 }]);
      expect(await drain(name, fromZero, `${name}-anew`)).toEqual([
        { id: 1, v: 'a', w: null },
        { id: 2, v: 'b', w: null },
        { id: 3, v: 'c', w: 30 },
      ]);
    });

    it.each([
      ['renamed', 'ALTER TABLE {t} RENAME COLUMN v TO w'],
      ['dropped', 'ALTER TABLE {t} DROP COLUMN v'],
    ])('end at a %s column, also after a new start, and say where to begin anew', async (what, change) => {
      const name = `${prefix}-${what}`;
      await steps(name, `CREATE TABLE {t} (id INT, v STRING) USING delta ${mapped}`, "INSERT INTO {t} VALUES (1, 'a')");
      const { rows, settle } = await open(name, fromZero);
      expect(await settle()).toBe('fine');
      await steps(name, change);
      const refusal = {
        errorClass: 'DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG',
        sqlState: '42KD4',
        hint: 'a stream cannot go across this: start with an empty checkpoint folder, from the newest rows or with startingVersion 2',
      };
      expect(await settle()).toMatchObject(refusal);
      expect(rows).toEqual([{ id: 1, v: 'a' }]);
      await expect(drain(name, fromZero)).rejects.toMatchObject({ cause: refusal });
      await expect(drain(name, fromZero, `${name}-anew`)).rejects.toMatchObject({ cause: refusal });
      await steps(name, what === 'renamed' ? "INSERT INTO {t} VALUES (2, 'b')" : 'INSERT INTO {t} VALUES (2)');
      const after = await drain(name, { ...kindOptions, startingVersion: '2' }, `${name}-behind`);
      expect(after).toEqual([what === 'renamed' ? { id: 2, w: 'b' } : { id: 2 }]);
    });

    it('do not take a dropped column that was added again for the one it was', async () => {
      const name = `${prefix}-again`;
      await steps(
        name,
        `CREATE TABLE {t} (id INT, v STRING) USING delta ${mapped}`,
        "INSERT INTO {t} VALUES (1, 'a')",
        'ALTER TABLE {t} DROP COLUMN v',
        'ALTER TABLE {t} ADD COLUMN (v STRING)',
        "INSERT INTO {t} VALUES (2, 'b')",
      );
      const refusal = { cause: { errorClass: 'DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG' } };
      await expect(drain(name, fromZero)).rejects.toMatchObject(refusal);
    });

    it('end at another type for good', async () => {
      const name = `${prefix}-retyped`;
      await steps(name, `CREATE TABLE {t} (id INT, v INT) USING delta ${feedOn}`, 'INSERT INTO {t} VALUES (1, 10)');
      expect(await drain(name, fromZero)).toEqual([{ id: 1, v: 10 }]);
      const { session, path } = bench();
      const text = await session.sql("SELECT 2 AS id, 'b' AS v");
      await text.write.format('delta').mode('overwrite').option('overwriteSchema', 'true').save(path(name));
      const refusal = { cause: { errorClass: 'DELTA_SCHEMA_CHANGED_WITH_STARTING_OPTIONS', parameters: { retryable: 'false' } } };
      await expect(drain(name, fromZero)).rejects.toMatchObject(refusal);
      await expect(drain(name, fromZero)).rejects.toMatchObject(refusal);
    });
  });

  it('a column that may not be NULL any more ends the stream once', async () => {
    await steps('nullable', 'CREATE TABLE {t} (id INT NOT NULL) USING delta', 'INSERT INTO {t} VALUES (1)');
    const { settle } = await open('nullable', {});
    expect(await settle()).toBe('fine');
    await steps('nullable', 'ALTER TABLE {t} ALTER COLUMN id DROP NOT NULL', 'INSERT INTO {t} VALUES (NULL)');
    expect(await settle()).toMatchObject({ errorClass: 'DELTA_SCHEMA_CHANGED_WITH_VERSION', parameters: { retryable: 'true' } });
    expect(await drain('nullable', {})).toEqual([{ id: null }]);
  });

  it('a place for schemas of the stream is refused by name', async () => {
    await steps('tracked', 'CREATE TABLE {t} (id INT) USING delta');
    const reader = bench().session.readStream.format('delta').option('schemaTrackingLocation', bench().path('schemas'));
    expect(() => reader.load(bench().path('tracked'))).toThrow(
      expect.objectContaining({ errorClass: 'UNSUPPORTED_FEATURE', message: 'the option "schemaTrackingLocation" is not supported' }),
    );
  });
});
