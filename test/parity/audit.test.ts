import { copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audit } from '../../src/app/commands/audit-command.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../src/base/bigint-json.ts';
import type { TableFormat } from '../../src/table/formats.ts';
import { IngestedTable } from '../support/ingested-table.ts';
import { withTemporaryDirectory } from '../support/servers.ts';
import { cli } from '../unit/cli/cli-support.ts';

/** Every way of damaging a table is found by `tidewater audit` at its level, and not before; what others did is named at every level. */

type Verdict = 'sound' | 'changed' | 'broken';

interface Damage {
  readonly what: string;
  readonly formats: readonly TableFormat[];
  readonly properties?: Readonly<Record<string, string>>;
  readonly harm: (table: IngestedTable) => Promise<void> | void;
  /** The verdicts of `audit`, `audit --files` and `audit --rows`. */
  readonly verdicts: readonly [log: Verdict, files: Verdict, rows: Verdict];
  /** What the level that finds it says. */
  readonly says: RegExp;
}

const both: readonly TableFormat[] = ['delta', 'iceberg'];
const levels = [[], ['--files'], ['--rows']] as const;
const found = {
  inLog: ['broken', 'broken', 'broken'],
  inFiles: ['sound', 'broken', 'broken'],
  inRows: ['sound', 'sound', 'broken'],
  changed: ['changed', 'changed', 'changed'],
  none: ['sound', 'sound', 'sound'],
} as const;

const dataFile = (table: IngestedTable, index: number): string =>
  table.files(/^(data\/)?[^_/][^/]*\.parquet$/)[index] ?? raise(`no data file ${index}`);
const logFile = (table: IngestedTable, version: number): string =>
  join(table.path, '_delta_log', `${String(version).padStart(20, '0')}.json`);
const newestMetadata = (table: IngestedTable): string => table.files('.metadata.json').at(-1) ?? raise('no metadata');

function raise(message: string): never {
  throw new Error(message);
}

function edit(path: string, change: (text: string) => string): void {
  const text = readFileSync(path, 'utf8');
  const changed = change(text);
  if (changed === text) raise(`nothing to change in ${path}`);
  writeFileSync(path, changed);
}

function overwriteBytes(path: string, fromEnd: number, bytes: number): void {
  const content = readFileSync(path);
  content.fill(0xff, content.length - fromEnd, content.length - fromEnd + bytes);
  writeFileSync(path, content);
}

/** The log of a version, or the newest metadata, in the form its format has. */
function editLog(table: IngestedTable, version: number, change: (text: string) => string): void {
  edit(table.format === 'delta' ? logFile(table, version) : newestMetadata(table), change);
}

const vectors = { 'delta.enableDeletionVectors': 'true' };
const mergeOnRead = (version: string): Readonly<Record<string, string>> => ({
  'format-version': version,
  'write.delete.mode': 'merge-on-read',
});
const someRows = 'DELETE FROM $orders WHERE _offset IN (3, 12)';

const damages: readonly Damage[] = [
  {
    what: 'a data file is gone',
    formats: both,
    harm: (t) => {
      rmSync(dataFile(t, 1));
    },
    verdicts: found.inFiles,
    says: /data file .* is gone/,
  },
  {
    what: 'a data file is cut short',
    formats: both,
    harm: (t) => {
      truncateSync(dataFile(t, 1), Math.floor(statSync(dataFile(t, 1)).size / 2));
    },
    verdicts: found.inFiles,
    says: /data file .* has \d+ bytes, the log says \d+/,
  },
  {
    what: 'half of the rows of a data file are gone',
    formats: both,
    // The file of a commit of five rows in place of one of ten.
    harm: (t) => {
      copyFileSync(dataFile(t, 3), dataFile(t, 1));
    },
    verdicts: found.inFiles,
    says: /data file .* (holds 5, the log says 10|has \d+ bytes, the log says \d+)/,
  },
  {
    what: 'the footer of a data file is damaged',
    formats: both,
    harm: (t) => {
      overwriteBytes(dataFile(t, 1), 60, 40);
    },
    verdicts: found.inFiles,
    says: /data file .* (cannot be read|holds)/,
  },
  {
    what: 'a data file has other rows, as many and as long',
    formats: both,
    harm: (t) => {
      expect(statSync(dataFile(t, 1)).size).toBe(statSync(dataFile(t, 2)).size);
      copyFileSync(dataFile(t, 1), dataFile(t, 2));
    },
    verdicts: found.inRows,
    says: /rows have the offset of another row/,
  },
  {
    what: 'a manifest is gone',
    formats: ['iceberg'],
    harm: (t) => {
      rmSync(t.files(/-m\d+\.avro$/)[1] ?? '');
    },
    verdicts: found.inFiles,
    says: /manifest .* is gone/,
  },
  {
    what: 'a manifest is cut short',
    formats: ['iceberg'],
    harm: (t) => {
      truncateSync(t.files(/-m\d+\.avro$/)[1] ?? '', 100);
    },
    verdicts: found.inFiles,
    says: /manifest .* has 100 bytes/,
  },
  {
    what: 'the manifest list is gone',
    formats: ['iceberg'],
    harm: (t) => {
      rmSync(t.files(/snap-.*\.avro$/).at(-1) ?? '');
    },
    verdicts: found.inFiles,
    says: /manifest list .* is gone/,
  },
  {
    what: 'a deletion vector is gone',
    formats: ['delta'],
    properties: vectors,
    harm: async (t) => {
      await t.sql(someRows);
      rmSync(t.files('.bin')[0] ?? '');
    },
    verdicts: ['changed', 'broken', 'broken'],
    says: /deletion vector .* is gone/,
  },
  {
    what: 'a deletion vector is damaged',
    formats: ['delta'],
    properties: vectors,
    harm: async (t) => {
      await t.sql(someRows);
      overwriteBytes(t.files('.bin')[0] ?? '', 8, 6);
    },
    verdicts: ['changed', 'broken', 'broken'],
    says: /deletion vector .* cannot be read/,
  },
  {
    what: 'a deletion vector in a Puffin file is gone',
    formats: ['iceberg'],
    properties: mergeOnRead('3'),
    harm: async (t) => {
      await t.sql(someRows);
      rmSync(t.files('.puffin')[0] ?? '');
    },
    verdicts: ['changed', 'broken', 'broken'],
    says: /deletion vector .* is gone/,
  },
  {
    what: 'a position delete file is gone',
    formats: ['iceberg'],
    properties: mergeOnRead('2'),
    harm: async (t) => {
      await t.sql(someRows);
      rmSync(t.files(/-deletes\.parquet$/)[0] ?? '');
    },
    verdicts: ['changed', 'broken', 'broken'],
    says: /position delete file .* is gone/,
  },
  {
    what: 'a commit of the log is gone behind a checkpoint',
    formats: ['delta'],
    harm: async (t) => {
      await (await t.table()).checkpoint({ dryRun: false });
      rmSync(logFile(t, 2));
    },
    verdicts: found.inLog,
    says: /versions between are gone/,
  },
  {
    what: 'a file is taken out of a commit of the log',
    formats: ['delta'],
    harm: (t) => {
      editLog(t, 2, (text) =>
        text
          .split('\n')
          .filter((line) => !line.startsWith('{"add"'))
          .join('\n'),
      );
    },
    verdicts: found.inLog,
    says: /claims 10 rows, its files hold 0/,
  },
  {
    what: 'a file is taken out by a version that says it changes nothing',
    formats: ['delta'],
    harm: (t) => {
      const add =
        readFileSync(logFile(t, 2), 'utf8')
          .split('\n')
          .find((line) => line.startsWith('{"add"')) ?? raise('no add');
      const { path } = (JSON.parse(add) as { readonly add: { readonly path: string } }).add;
      const lines = [
        { commitInfo: { timestamp: 1, operation: 'OPTIMIZE' } },
        { remove: { path, deletionTimestamp: 1, dataChange: false } },
      ];
      writeFileSync(logFile(t, 5), lines.map((line) => JSON.stringify(line)).join('\n'));
    },
    verdicts: found.inLog,
    says: /hold 25 rows by the log, all commits together wrote 35/,
  },
  {
    what: 'the count of rows of a commit is changed',
    formats: ['iceberg'],
    harm: (t) => {
      editLog(t, 2, (text) => text.replace('"added-records":"10"', '"added-records":"9"'));
    },
    verdicts: found.inLog,
    says: /claims 10 rows, its files hold 9/,
  },
  {
    what: 'records were passed over without a decision',
    formats: both,
    harm: async (t) => {
      await t.commit(0, 40, 45, 25);
      editLog(t, 5, (text) => text.replace(/,?\\"after\\":\\"25\\"/, ''));
    },
    verdicts: found.inLog,
    says: /orders:0 begins at 40, the version before it ended at 25/,
  },
  {
    what: 'a mark is not where its commit ends',
    formats: ['delta'],
    harm: (t) => {
      editLog(t, 4, (text) => text.replace('"version":25', '"version":24'));
    },
    verdicts: found.inLog,
    says: /ends at 25, the stored mark is 24/,
  },
  {
    what: 'another program deleted rows',
    formats: both,
    harm: (t) => t.sql(someRows),
    verdicts: found.changed,
    says: /changed by others: version 5, .*(DELETE|overwrite|delete) by .*, -3 rows/,
  },
  {
    what: 'another program deleted rows by merge-on-read',
    formats: ['iceberg'],
    properties: mergeOnRead('2'),
    harm: (t) => t.sql(someRows),
    verdicts: found.changed,
    says: /changed by others: version 5, .* -3 rows/,
  },
  {
    what: 'another program changed rows',
    formats: both,
    harm: (t) => t.sql('UPDATE $orders SET id = 0 WHERE _offset = 3'),
    verdicts: found.changed,
    says: /changed by others: version 5, .*, 0 rows/,
  },
  {
    what: 'another program added rows that are there already',
    formats: both,
    harm: (t) => t.sql('INSERT INTO $orders SELECT * FROM $orders WHERE _offset < 2'),
    verdicts: ['changed', 'changed', 'broken'],
    says: /rows have the offset of another row/,
  },
  {
    what: 'another program added rows of its own',
    formats: both,
    harm: (t) => t.sql('INSERT INTO $orders VALUES (1, NULL, NULL, NULL)'),
    verdicts: found.changed,
    says: /changed by others: version 5, .*, \+1 rows/,
  },
  {
    what: 'the table was restored',
    formats: ['delta'],
    harm: (t) => t.sql('RESTORE TABLE $orders TO VERSION AS OF 3'),
    verdicts: found.changed,
    says: /changed by others: version 5, .*RESTORE by/,
  },
  {
    what: 'nothing happened',
    formats: both,
    harm: () => undefined,
    verdicts: found.none,
    says: /proven: versions \d to \d, the whole history: orders:0 \[0, 25\), orders:1 \[0, 10\)/,
  },
  {
    what: 'records were passed over by decision',
    formats: both,
    harm: (t) => t.commit(0, 40, 45, 25),
    verdicts: found.none,
    says: /15 offsets were passed over by decision/,
  },
  {
    what: 'records were read again by decision',
    formats: both,
    harm: (t) => t.commit(0, 5, 30, 25),
    verdicts: found.none,
    says: /20 offsets are read again by decision/,
  },
  {
    what: 'a topic that was created again was read by decision',
    formats: both,
    harm: async (t) => {
      t.topicId = 'another';
      await t.commit(0, 0, 5);
    },
    verdicts: found.none,
    says: /another incarnation of the topic/,
  },
  {
    what: 'small files were compacted',
    formats: both,
    harm: (t) =>
      t.sql(
        t.format === 'delta'
          ? 'OPTIMIZE $orders'
          : "CALL ice.system.rewrite_data_files(table => 'db.orders', options => map('rewrite-all', 'true'))",
      ),
    verdicts: found.none,
    says: /not checked/,
  },
  {
    what: 'old versions were cleaned up',
    formats: both,
    harm: async (t) => {
      if (t.format === 'iceberg') {
        await t.sql(
          "CALL ice.system.expire_snapshots(table => 'db.orders', retain_last => 2, older_than => TIMESTAMP '2100-01-01 00:00:00')",
        );
        return;
      }
      await (await t.table()).checkpoint({ dryRun: false });
      for (const version of [0, 1, 2]) rmSync(logFile(t, version));
    },
    verdicts: found.none,
    says: /not checked versions before 3, which the history no longer has/,
  },
];

const cases = damages.flatMap((damage) => damage.formats.map((format) => ({ ...damage, format })));

async function audited(table: IngestedTable, flags: readonly string[]): Promise<{ readonly report: JsonObject; readonly code: number }> {
  const { out, err, code } = await table.cli('audit', 'orders', ...flags, '--json');
  expect(err).toBe('');
  const report = parseJson(out, 'report');
  return { report: isJsonObject(report) ? report : raise('no report'), code };
}

describe('the audit of a table, from the table alone', () => {
  it.each(cases)('X04: of a table in $format it is found at its level that $what', async ({ format, properties, harm, verdicts, says }) => {
    await withTemporaryDirectory(async (directory) => {
      const table = new IngestedTable(format, directory, properties);
      try {
        await table.commit(0, 0, 10);
        await table.commit(0, 10, 20);
        await table.commit(1, 0, 10);
        await table.commit(0, 20, 25);
        await harm(table);
      } finally {
        await table.close();
      }
      const reports = await Promise.all(levels.map((flags) => audited(table, flags)));
      expect(reports.map(({ report }) => report['verdict'])).toEqual(verdicts);
      expect(reports.map(({ code }) => code)).toEqual(verdicts.map((verdict) => (verdict === 'broken' ? 4 : 0)));
      const foundAt = levels[Math.max(0, verdicts.indexOf(verdicts[2]))] ?? [];
      expect((await table.cli('audit', 'orders', ...foundAt)).out).toMatch(says);
      for (const { report } of reports) expect([...listOf(report, 'checked'), ...listOf(report, 'notChecked')]).not.toEqual([]);
    });
  });
});

it('X04: tables are audited by path, and by their names in catalogs', async () => {
  await withTemporaryDirectory(async (directory) => {
    const table = new IngestedTable('iceberg', directory);
    await table.commit(0, 0, 10);
    await table.close();
    const source = ['--rows', '--source-columns', 'offset=_offset', '--json'];
    const conf = { '': 'org.apache.iceberg.spark.SparkCatalog', '.type': 'hadoop', '.warehouse': directory };
    const flags = Object.entries(conf).flatMap(([key, value]) => ['--conf', `spark.sql.catalog.ice${key}=${value}`]);
    const byPath = await cli(['audit', table.path, ...source], { app: { audit }, files: {} });
    const byName = await cli(['audit', 'ice.db.orders', ...flags, ...source], { app: { audit }, files: {} });
    for (const { code, out } of [byPath, byName]) {
      expect(code).toBe(0);
      expect(parseJson(out, 'report')).toMatchObject({ verdict: 'sound', rows: 10, level: 'rows' });
    }
    const blind = await cli(['audit', table.path, '--rows'], { app: { audit }, files: {} });
    expect([blind.code, blind.out]).toEqual([0, expect.stringContaining('no column of the table is known to hold source offsets')]);
  });
});

function listOf(report: JsonObject, name: string): readonly unknown[] {
  const list = report[name];
  return Array.isArray(list) ? list : [];
}
