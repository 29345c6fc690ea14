import { createSession } from '../../src/app/session.ts';

/**
 * A process of its own that inserts rows one by one into tables of several catalogs: `iceberg-appender.ts <writer> <count> <settings of catalogs
 * by name, as JSON>`, a table `db.appended (writer INT, n INT)` in each catalog. Prints the inserts whose outcome was not certain.
 */
const [writer = '0', count = '0', catalogs = '{}'] = process.argv.slice(2);
const settings = JSON.parse(catalogs) as Readonly<Record<string, Readonly<Record<string, string>>>>;
const config: Record<string, string> = { 'tidewater.engine.threads': '1', 'tidewater.engine.memoryLimit': '200m' };
for (const [name, entries] of Object.entries(settings)) {
  config[`spark.sql.catalog.${name}`] = 'org.apache.iceberg.spark.SparkCatalog';
  for (const [key, value] of Object.entries(entries)) config[`spark.sql.catalog.${name}.${key}`] = value;
}
const session = createSession({ config });
const uncertain: string[] = [];
try {
  for (let n = 0; n < Number(count); n++) {
    for (const name of Object.keys(settings)) {
      try {
        await session.sql(`INSERT INTO ${name}.db.appended VALUES (${writer}, ${n})`);
      } catch (error) {
        if ((error as { readonly kind?: string }).kind !== 'unknown-outcome') throw error;
        uncertain.push(`${name} ${n}`);
      }
    }
  }
} finally {
  await session.stop();
}
console.log(JSON.stringify(uncertain));
