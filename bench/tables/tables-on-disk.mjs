// The data of the cases: made once a scale by another engine, and given to each run as it was made.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const makeTimeoutMs = 900_000;
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Where a run finds its case: `{ arguments }` after the case's name, `table` the directory of the table's files. Files never change, so that
 * links serve as copies of them.
 */
export function placeOf(bench, { format, data, changes }) {
  return format === 'delta' ? deltaPlace(bench, data, changes) : icebergPlace(bench, data, changes);
}

/** Tables of Delta lie anywhere. */
function deltaPlace(bench, kind, changes) {
  const dir = madeData(bench, 'delta', kind, join(bench.context.root, 'tables', `data-${bench.scale}`, kind));
  const original = join(dir, 'table');
  if (!changes) return { arguments: [dir, original], table: original };
  const table = join(bench.work, 'table');
  execFileSync('cp', ['-al', original, table]);
  return { arguments: [dir, table], table };
}

/** Tables of Iceberg name their files from the root, so that they have to lie where they were made: what changed is put back. */
function icebergPlace(bench, kind, changes) {
  const dir = madeData(bench, 'iceberg', kind, join(bench.context.root, 'tables', `iceberg-${bench.scale}`, kind));
  const [warehouse, catalog] = [join(dir, 'warehouse'), join(dir, 'catalog.db')];
  const [warehouseAsMade, catalogAsMade] = [join(dir, 'warehouse.made'), join(dir, 'catalog.db.made')];
  if (!existsSync(catalogAsMade)) {
    execFileSync('cp', ['-al', warehouse, warehouseAsMade]);
    copyFileSync(catalog, catalogAsMade);
  }
  if (changes) {
    rmSync(warehouse, { recursive: true, force: true });
    execFileSync('cp', ['-al', warehouseAsMade, warehouse]);
    copyFileSync(catalogAsMade, catalog);
  }
  return { arguments: [dir], table: join(warehouse, 'bench', 'orders', 'data'), putBack: changes ? () => icebergPlace(bench, kind, true) : undefined };
}

function madeData({ context, scale, found }, format, kind, dir) {
  const complete = join(dir, 'complete');
  // A checkout that was moved has tables that name the files of the old place.
  if (existsSync(complete) && [dir, ''].includes(readFileSync(complete, 'utf8'))) return dir;
  context.log(`making the ${format} table "${kind}"`);
  mkdirSync(join(dir, '..'), { recursive: true });
  const script = here(format === 'delta' ? 'make_data.py' : 'make_iceberg.py');
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
  execFileSync(found[format].python, [script, kind, dir, String(scale)], { env, stdio: ['ignore', 'ignore', 'inherit'], timeout: makeTimeoutMs });
  writeFileSync(complete, format === 'delta' ? '' : dir);
  return dir;
}

export function parquetFiles(table) {
  return readdirSync(table, { recursive: true }).filter((file) => file.endsWith('.parquet'));
}

export function megabytesOf(table) {
  return parquetFiles(table).reduce((sum, file) => sum + statSync(join(table, file)).size, 0) / 1e6;
}
