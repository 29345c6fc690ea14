import { describe, expect, it } from 'vitest';
import { printExpression } from '../../../../src/expr/print-expression.ts';
import { parseStatement } from '../../../../src/session/statements/parse-statement.ts';

/** A statement with expressions as text and without places, for whole comparisons. */
function parsed(text: string, parameters?: Parameters<typeof parseStatement>[1]): unknown {
  return readable(parseStatement(text, parameters));
}

function readable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value;
  const record = value as Readonly<Record<string, unknown>>;
  const kind = record['kind'];
  if (
    typeof kind === 'string' &&
    expressionKinds.has(kind) &&
    ('literal' in record ||
      'operand' in record ||
      'left' in record ||
      ('arguments' in record && 'name' in record) ||
      ('path' in record && 'at' in record))
  ) {
    return printExpression(value as Parameters<typeof printExpression>[0]);
  }
  // A name is shown as it is written.
  if ('parts' in record && Object.keys(record).length === 2) return (record['parts'] as readonly string[]).join('|');
  if ('text' in record && 'parameters' in record) return record['text'];
  return Object.fromEntries(
    Object.entries(record).flatMap(([key, member]) => (key === 'at' || member === undefined ? [] : [[key, readable(member)]])),
  );
}

const expressionKinds = new Set(['column', 'literal', 'unary', 'binary', 'is', 'in', 'between', 'like', 'cast', 'call']);
const long = { kind: 'long' };
const string = { kind: 'string' };
const field = (name: string, type: object, rest: object = {}): object => ({ name, type, nullable: true, ...rest });

describe('queries', () => {
  it.each(['SELECT 1', 'with x as (select 1) select * from x', 'VALUES (1)', 'FROM t SELECT a', 'TABLE t', '(SELECT 1) UNION (SELECT 2)'])(
    '%s stays text',
    (text) => {
      expect(parsed(`${text} ;`)).toEqual({ kind: 'query', query: text });
    },
  );

  it('EXPLAIN and DESCRIBE QUERY carry one', () => {
    expect(parsed('EXPLAIN SELECT 1')).toEqual({ kind: 'explain', extended: false, of: { kind: 'query', query: 'SELECT 1' } });
    expect(parsed('explain formatted SELECT 1')).toEqual({ kind: 'explain', extended: false, of: { kind: 'query', query: 'SELECT 1' } });
    expect(parsed('EXPLAIN EXTENDED SELECT 1')).toEqual({ kind: 'explain', extended: true, of: { kind: 'query', query: 'SELECT 1' } });
    expect(parsed('DESCRIBE QUERY SELECT 1')).toEqual({ kind: 'describe-query', query: 'SELECT 1' });
    expect(parsed('DESC SELECT 1')).toEqual({ kind: 'describe-query', query: 'SELECT 1' });
  });

  it('a query knows its place and the number of its first parameter', () => {
    const statement = parseStatement("INSERT OVERWRITE t PARTITION (p = ?, q = ?)\n SELECT ? /* ? */ , '?'");
    expect(statement).toMatchObject({ kind: 'insert', query: { at: { line: 2, column: 2 }, parameters: [2] } });
  });

  it('parameters after a query count those in it', () => {
    const statement = parseStatement(
      'MERGE INTO t USING (SELECT ? AS id, ? AS v) s ON t.id = s.id AND s.v > ? WHEN MATCHED THEN DELETE',
      [1, 2, 3],
    );
    expect(statement).toMatchObject({ kind: 'merge' });
    expect(readable(statement)).toMatchObject({ condition: '((t.id = s.id) AND (s.v > 3))' });
  });
});

describe('namespaces, settings and listings', () => {
  it.each<[string, object]>([
    [
      "CREATE DATABASE IF NOT EXISTS a.b COMMENT 'c' LOCATION '/x' WITH DBPROPERTIES (k = 1)",
      { kind: 'create-namespace', name: 'a|b', ifNotExists: true, comment: 'c', location: '/x', properties: { k: '1' } },
    ],
    ['CREATE NAMESPACE n', { kind: 'create-namespace', name: 'n', ifNotExists: false, properties: {} }],
    ['DROP SCHEMA IF EXISTS n CASCADE', { kind: 'drop-namespace', name: 'n', ifExists: true, cascade: true }],
    ['SHOW DATABASES', { kind: 'show-namespaces' }],
    ["SHOW NAMESPACES IN c LIKE 'a*'", { kind: 'show-namespaces', in: 'c', like: 'a*' }],
    ["SHOW TABLES FROM c.d 'a*'", { kind: 'show-tables', in: 'c|d', like: 'a*' }],
    ['SHOW CATALOGS', { kind: 'show-catalogs' }],
    ["SHOW TBLPROPERTIES t ('a.b')", { kind: 'show-table-properties', name: 't', key: 'a.b' }],
    ['SHOW COLUMNS IN t IN d', { kind: 'show-columns', name: 'd|t' }],
    ['SHOW CREATE TABLE delta.`/x`', { kind: 'show-create-table', name: 'delta|/x' }],
    ['SHOW PARTITIONS t', { kind: 'show-partitions', name: 't' }],
    ['USE c.d', { kind: 'use', name: 'c|d', what: 'any' }],
    ['USE NAMESPACE d', { kind: 'use', name: 'd', what: 'namespace' }],
    ['SET CATALOG c', { kind: 'use', name: 'c', what: 'catalog' }],
    ['SET', { kind: 'set' }],
    ['SET a.b-c.d', { kind: 'set', key: 'a.b-c.d' }],
    ['SET a.b = some words, all', { kind: 'set', key: 'a.b', value: 'some words, all' }],
    ["SET a.b='quoted'", { kind: 'set', key: 'a.b', value: 'quoted' }],
    ['RESET a.b', { kind: 'reset', key: 'a.b' }],
    ['RESET', { kind: 'reset' }],
    ['DESCRIBE t', { kind: 'describe-table', name: 't', extended: false }],
    ['DESC TABLE EXTENDED t', { kind: 'describe-table', name: 't', extended: true }],
    ['DESCRIBE t s.a', { kind: 'describe-table', name: 't', extended: false, column: ['s', 'a'] }],
    ['DESCRIBE history', { kind: 'describe-table', name: 'history', extended: false }],
    ["DESCRIBE HISTORY '/x' LIMIT 3", { kind: 'describe-history', name: 'delta|/x', limit: 3 }],
    ['DESCRIBE DETAIL t', { kind: 'describe-detail', name: 't' }],
    ['DESCRIBE DATABASE EXTENDED d', { kind: 'describe-namespace', name: 'd', extended: true }],
  ])('%s', (text, expected) => {
    expect(parsed(text)).toEqual(expected);
  });
});

describe('tables', () => {
  const create = { kind: 'create-table', mode: 'create', constraints: [], partitionedBy: [], clusterBy: [], properties: {}, options: {} };
  it.each<[string, object]>([
    [
      "CREATE TABLE IF NOT EXISTS d.t (id BIGINT NOT NULL COMMENT 'k', v STRING, CONSTRAINT pos CHECK (id > 0), CHECK (v <> '')) USING Delta COMMENT 'c' PARTITIONED BY (v) TBLPROPERTIES (delta.enableChangeDataFeed = TRUE, 'a b' = 'x', n = -1.5) LOCATION '/x'",
      {
        ...create,
        mode: 'create-if-absent',
        name: 'd|t',
        columns: [field('id', long, { nullable: false, metadata: { comment: 'k' } }), field('v', string)],
        constraints: [
          { name: 'pos', condition: '(id > 0)', text: 'id > 0' },
          { condition: "(v <> '')", text: "v <> ''" },
        ],
        provider: 'delta',
        comment: 'c',
        partitionedBy: [{ kind: 'column', path: ['v'] }],
        properties: { 'delta.enableChangeDataFeed': 'true', 'a b': 'x', n: '-1.5' },
        location: '/x',
      },
    ],
    [
      'CREATE TABLE t (id BIGINT) USING iceberg PARTITIONED BY (bucket(4, id), truncate(id, 10), days(s.ts), d DATE)',
      {
        ...create,
        name: 't',
        columns: [field('id', long)],
        provider: 'iceberg',
        partitionedBy: [
          { kind: 'transform', name: 'bucket', parameter: 4, path: ['id'] },
          { kind: 'transform', name: 'truncate', parameter: 10, path: ['id'] },
          { kind: 'transform', name: 'days', path: ['s', 'ts'] },
          { kind: 'typed-column', field: field('d', { kind: 'date' }) },
        ],
      },
    ],
    [
      'CREATE OR REPLACE TABLE t CLUSTER BY (a, s.b) AS (SELECT 1)',
      { ...create, mode: 'create-or-replace', name: 't', clusterBy: [['a'], ['s', 'b']], query: '(SELECT 1)' },
    ],
    ['REPLACE TABLE t USING delta SELECT 1', { ...create, mode: 'replace', name: 't', provider: 'delta', query: 'SELECT 1' }],
    [
      "CREATE TABLE t USING csv OPTIONS (header 'true', sep = ';')",
      { ...create, name: 't', provider: 'csv', options: { header: 'true', sep: ';' } },
    ],
    [
      "CREATE TABLE a SHALLOW CLONE delta.`/x` TIMESTAMP AS OF '2024-01-01' TBLPROPERTIES (a = 'b') LOCATION '/y'",
      {
        kind: 'clone-table',
        mode: 'create',
        name: 'a',
        source: { parts: ['delta', '/x'], asOf: { kind: 'timestamp', timestamp: "'2024-01-01'" } },
        shallow: true,
        properties: { a: 'b' },
        location: '/y',
      },
    ],
    ['CREATE OR REPLACE TEMP VIEW v AS SELECT 1', { kind: 'create-view', name: 'v', replace: true, query: 'SELECT 1' }],
    ['DROP VIEW IF EXISTS v', { kind: 'drop-view', name: 'v', ifExists: true }],
    ['DROP TABLE t PURGE', { kind: 'drop-table', name: 't', ifExists: false, purge: true }],
    ['TRUNCATE TABLE t', { kind: 'truncate-table', name: 't' }],
    ['REFRESH TABLE t', { kind: 'refresh-table', name: 't' }],
    ["COMMENT ON TABLE t IS 'c'", { kind: 'alter-table', name: 't', actions: [{ kind: 'comment', comment: 'c' }] }],
  ])('%s', (text, expected) => {
    expect(parsed(text)).toEqual(expected);
  });

  it.each<[string, readonly object[]]>([
    [
      "ADD COLUMNS (a INT COMMENT 'x' FIRST, s.b STRING AFTER c)",
      [
        {
          kind: 'add-columns',
          columns: [
            { parent: [], field: field('a', { kind: 'integer' }, { metadata: { comment: 'x' } }), place: { kind: 'first' } },
            { parent: ['s'], field: field('b', string), place: { kind: 'after', sibling: 'c' } },
          ],
        },
      ],
    ],
    [
      'ADD COLUMN a BIGINT DEFAULT 1 + 1',
      [{ kind: 'add-columns', columns: [{ parent: [], field: field('a', long, { metadata: { CURRENT_DEFAULT: '1 + 1' } }) }] }],
    ],
    ['RENAME COLUMN s.a TO b', [{ kind: 'rename-column', path: ['s', 'a'], to: 'b' }]],
    ['RENAME TO d.u', [{ kind: 'rename-table', to: 'd|u' }]],
    ['DROP COLUMN IF EXISTS a', [{ kind: 'drop-columns', paths: [['a']], ifExists: true }]],
    ['DROP COLUMNS (a, s.b)', [{ kind: 'drop-columns', paths: [['a'], ['s', 'b']], ifExists: false }]],
    ['ALTER COLUMN a TYPE BIGINT', [{ kind: 'change-type', path: ['a'], type: long }]],
    ['ALTER COLUMN a SET NOT NULL', [{ kind: 'change-nullability', path: ['a'], nullable: false }]],
    ['ALTER COLUMN a DROP NOT NULL', [{ kind: 'change-nullability', path: ['a'], nullable: true }]],
    ["ALTER COLUMN a COMMENT 'c'", [{ kind: 'change-comment', path: ['a'], comment: 'c' }]],
    ['ALTER COLUMN s.a AFTER b', [{ kind: 'move-column', path: ['s', 'a'], place: { kind: 'after', sibling: 'b' } }]],
    ["ALTER COLUMN a SET DEFAULT 'x' || 'y'", [{ kind: 'change-default', path: ['a'], expression: "'x' || 'y'" }]],
    ['ALTER COLUMN a DROP DEFAULT', [{ kind: 'change-default', path: ['a'] }]],
    [
      'ALTER COLUMN a TYPE BIGINT, b FIRST',
      [
        { kind: 'change-type', path: ['a'], type: long },
        { kind: 'move-column', path: ['b'], place: { kind: 'first' } },
      ],
    ],
    [
      "CHANGE COLUMN a A BIGINT COMMENT 'c' FIRST",
      [
        { kind: 'change-type', path: ['a'], type: long },
        { kind: 'change-comment', path: ['a'], comment: 'c' },
        { kind: 'move-column', path: ['a'], place: { kind: 'first' } },
      ],
    ],
    ['CHANGE a TYPE BIGINT', [{ kind: 'change-type', path: ['a'], type: long }]],
    ["SET TBLPROPERTIES (a.b = 'c')", [{ kind: 'set-properties', properties: { 'a.b': 'c' } }]],
    ["UNSET TBLPROPERTIES IF EXISTS ('a', b.c)", [{ kind: 'unset-properties', keys: ['a', 'b.c'], ifExists: true }]],
    ['ADD CONSTRAINT pos CHECK ( v > 0 )', [{ kind: 'add-constraint', name: 'pos', condition: '(v > 0)', text: 'v > 0' }]],
    ['DROP CONSTRAINT IF EXISTS pos', [{ kind: 'drop-constraint', name: 'pos', ifExists: true }]],
    ['CLUSTER BY (a, b)', [{ kind: 'cluster-by', columns: [['a'], ['b']] }]],
    ['CLUSTER BY NONE', [{ kind: 'cluster-by', columns: [] }]],
    ['DROP FEATURE deletionVectors', [{ kind: 'drop-feature', feature: 'deletionVectors' }]],
    [
      'ADD PARTITION FIELD bucket(16, id) AS b',
      [{ kind: 'add-partition-field', item: { kind: 'transform', name: 'bucket', parameter: 16, path: ['id'] }, name: 'b' }],
    ],
    ['DROP PARTITION FIELD d', [{ kind: 'drop-partition-field', item: { kind: 'column', path: ['d'] } }]],
    [
      'REPLACE PARTITION FIELD d WITH days(ts)',
      [{ kind: 'replace-partition-field', item: { kind: 'column', path: ['d'] }, by: { kind: 'transform', name: 'days', path: ['ts'] } }],
    ],
    [
      'WRITE ORDERED BY a DESC, b',
      [
        {
          kind: 'write-order',
          keys: [
            { expression: 'a', descending: true },
            { expression: 'b', descending: false },
          ],
          distribution: 'range',
        },
      ],
    ],
    ['WRITE LOCALLY ORDERED BY a', [{ kind: 'write-order', keys: [{ expression: 'a', descending: false }], distribution: 'local' }]],
    ['WRITE UNORDERED', [{ kind: 'write-order', keys: [], distribution: 'none' }]],
    ['SET IDENTIFIER FIELDS a, s.b', [{ kind: 'set-identifier-fields', paths: [['a'], ['s', 'b']] }]],
    [
      'CREATE BRANCH IF NOT EXISTS b AS OF VERSION 12 RETAIN 2 HOURS',
      [{ kind: 'create-ref', ref: 'branch', name: 'b', mode: 'create-if-absent', retention: { version: 12n, retainMs: 7_200_000n } }],
    ],
    ['CREATE OR REPLACE TAG `v1.0`', [{ kind: 'create-ref', ref: 'tag', name: 'v1.0', mode: 'create-or-replace', retention: {} }]],
    [
      'REPLACE BRANCH b WITH SNAPSHOT RETENTION 3 SNAPSHOTS 7 DAYS',
      [
        {
          kind: 'create-ref',
          ref: 'branch',
          name: 'b',
          mode: 'replace',
          retention: { minSnapshotsToKeep: 3, maxSnapshotAgeMs: 604_800_000n },
        },
      ],
    ],
    ['DROP TAG IF EXISTS x', [{ kind: 'drop-ref', ref: 'tag', name: 'x', ifExists: true }]],
  ])('ALTER TABLE t %s', (text, actions) => {
    expect(parsed(`ALTER TABLE t ${text}`)).toEqual({ kind: 'alter-table', name: 't', actions });
  });
});

describe('rows', () => {
  const insert = { kind: 'insert', name: 't', mode: 'append', partition: [], byName: false };
  it.each<[string, object]>([
    ["INSERT INTO t VALUES (1, 'a')", { ...insert, query: "VALUES (1, 'a')" }],
    ['INSERT INTO TABLE t (b, a) SELECT 1, 2', { ...insert, columns: ['b', 'a'], query: 'SELECT 1, 2' }],
    ['INSERT INTO t (SELECT 1)', { ...insert, query: '(SELECT 1)' }],
    ['INSERT INTO t BY NAME SELECT 1 a', { ...insert, byName: true, query: 'SELECT 1 a' }],
    [
      "INSERT OVERWRITE t PARTITION (p = 'x', q) SELECT 1",
      { ...insert, mode: 'overwrite', partition: [{ column: 'p', value: "'x'" }, { column: 'q' }], query: 'SELECT 1' },
    ],
    [
      "INSERT INTO t REPLACE WHERE p = 'x' AND q > 1 TABLE s",
      { ...insert, mode: 'overwrite', replaceWhere: "((p = 'x') AND (q > 1))", query: 'TABLE s' },
    ],
    ['DELETE FROM delta.`/x` AS d WHERE d.a = 1', { kind: 'delete', name: 'delta|/x', alias: 'd', condition: '(d.a = 1)' }],
    ['DELETE FROM t', { kind: 'delete', name: 't' }],
    [
      'UPDATE t x SET x.a = 1, s.b = b + 1, t = DEFAULT WHERE c',
      {
        kind: 'update',
        name: 't',
        alias: 'x',
        assignments: [
          { target: ['a'], value: '1' },
          { target: ['s', 'b'], value: '(b + 1)' },
          { target: ['t'], value: 'DEFAULT' },
        ],
        condition: 'c',
      },
    ],
    ['UPDATE d.t SET t.a = :v', { kind: 'update', name: 'd|t', assignments: [{ target: ['a'], value: "'it\\'s'" }] }],
    [
      `MERGE WITH SCHEMA EVOLUTION INTO t AS a USING s@v3 AS b ON a.id = b.id
       WHEN MATCHED AND b.x = 1 THEN UPDATE SET a.v = b.v
       WHEN MATCHED AND b.x = 2 THEN UPDATE SET *
       WHEN MATCHED THEN DELETE
       WHEN NOT MATCHED BY TARGET AND b.x > 2 THEN INSERT (id, a.v) VALUES (b.id, 1)
       WHEN NOT MATCHED THEN INSERT *
       WHEN NOT MATCHED BY SOURCE AND a.v = 1 THEN UPDATE SET v = 2
       WHEN NOT MATCHED BY SOURCE THEN DELETE`,
      {
        kind: 'merge',
        target: 't',
        targetAlias: 'a',
        source: { kind: 'table', table: { parts: ['s'], asOf: { kind: 'version', version: 3n } } },
        sourceAlias: 'b',
        condition: '(a.id = b.id)',
        schemaEvolution: true,
        clauses: [
          { on: 'matched', action: 'update', condition: '(b.x = 1)', assignments: [{ target: ['v'], value: 'b.v' }] },
          { on: 'matched', action: 'update', condition: '(b.x = 2)', assignments: 'all' },
          { on: 'matched', action: 'delete' },
          {
            on: 'not-matched',
            action: 'insert',
            condition: '(b.x > 2)',
            values: [
              { target: ['id'], value: 'b.id' },
              { target: ['v'], value: '1' },
            ],
          },
          { on: 'not-matched', action: 'insert', values: 'all' },
          { on: 'not-matched-by-source', action: 'update', condition: '(a.v = 1)', assignments: [{ target: ['v'], value: '2' }] },
          { on: 'not-matched-by-source', action: 'delete' },
        ],
      },
    ],
  ])('%s', (text, expected) => {
    expect(parsed(text, text.includes(':v') ? { v: "it's" } : undefined)).toEqual(expected);
  });
});

describe('maintenance', () => {
  it.each<[string, object]>([
    [
      "OPTIMIZE t WHERE d >= '2024-01-01' ZORDER BY (a, s.b)",
      { kind: 'optimize', name: 't', where: "(d >= '2024-01-01')", zOrderBy: ['a', 's.b'], full: false },
    ],
    ["OPTIMIZE '/x' FULL", { kind: 'optimize', name: 'delta|/x', zOrderBy: [], full: true }],
    ['REORG TABLE t WHERE p = 1 APPLY (PURGE)', { kind: 'reorg', name: 't', where: '(p = 1)' }],
    ['VACUUM t', { kind: 'vacuum', name: 't', dryRun: false }],
    ['VACUUM t LITE RETAIN 0.5 HOURS DRY RUN', { kind: 'vacuum', name: 't', mode: 'lite', retainHours: 0.5, dryRun: true }],
    [
      'CONVERT TO DELTA parquet.`/x` NO STATISTICS PARTITIONED BY (p STRING)',
      { kind: 'convert', name: 'parquet|/x', collectStatistics: false, partitionedBy: [field('p', string)] },
    ],
    ['RESTORE TABLE t TO VERSION AS OF 3', { kind: 'restore', name: 't', to: { kind: 'version', version: 3n } }],
    [
      'RESTORE t TO TIMESTAMP AS OF current_date() - 1',
      { kind: 'restore', name: 't', to: { kind: 'timestamp', timestamp: '(current_date() - 1)' } },
    ],
    ['GENERATE symlink_format_manifest FOR TABLE t', { kind: 'generate', mode: 'symlink_format_manifest', name: 't' }],
    ["CALL c.system.f('t', 12)", { kind: 'call', procedure: 'c|system|f', arguments: [{ value: "'t'" }, { value: '12' }] }],
    [
      "CALL f(table => 't', options => map('a', 'b'))",
      {
        kind: 'call',
        procedure: 'f',
        arguments: [
          { name: 'table', value: "'t'" },
          { name: 'options', value: "map('a', 'b')" },
        ],
      },
    ],
  ])('%s', (text, expected) => {
    expect(parsed(text)).toEqual(expected);
  });
});
