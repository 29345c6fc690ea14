import { describeError, isServiceError } from '../../../src/base/errors.ts';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { SystemRandom } from '../../../src/base/system-random.ts';
import { canonicalRows } from '../../../src/codec/canonical-json.ts';
import { DeltaTables } from '../../../src/delta/delta-tables.ts';
import type { DuckdbEngine } from '../../../src/engine/duckdb-engine.ts';
import { bindExpression } from '../../../src/expr/bind-expression.ts';
import type { Expression } from '../../../src/expr/expression.ts';
import { openObjectStore } from '../../../src/storage/open-object-store.ts';
import type { FileScan } from '../../../src/table/scan.ts';
import type { QueryableTable } from '../../../src/table/table.ts';
import { toVersion } from '../../../src/table/version.ts';

/** What came of a question: lines, or an error. `typed`: it is one of ours, with a code and words, and says where. */
export type Answer =
  | { readonly kind: 'lines'; readonly lines: readonly string[] }
  | { readonly kind: 'error'; readonly typed: boolean; readonly code: string; readonly text: string };

export const questions = ['rows', 'first', 'filtered', 'changes', 'history', 'detail', 'health'] as const;
export type Question = (typeof questions)[number];
export type Answers = Readonly<Record<Question, Answer>>;

/** Asks a table, opened anew, everything that reads. Each question stands alone: an error of one says nothing of the others. */
export async function askAll(engine: DuckdbEngine, directory: string): Promise<Answers> {
  const random = new SystemRandom();
  const tables = new DeltaTables({
    openStore: openObjectStore,
    clock: new SystemClock(),
    random,
    ids: new RandomIdSource(random),
    version: 'test',
    rewriter: { rewrite: () => Promise.reject(new TypeError('nothing is rewritten')) },
    engine: () => Promise.resolve(engine),
  });
  const ask = (question: (table: QueryableTable) => Promise<readonly string[]>): Promise<Answer> =>
    answerOf(async () => {
      const table = await tables.open('fuzzed', directory);
      return table === undefined ? ['no table'] : question(table);
    });
  return {
    rows: await ask(async (table) => rowsOf(engine, await table.scan(await table.refresh()))),
    first: await ask(async (table) => rowsOf(engine, await table.scan(await table.snapshotAt(toVersion(0))))),
    filtered: await ask((table) => filteredRows(engine, table)),
    changes: await ask((table) => changesOf(engine, table)),
    history: await ask(async (table) => (await table.history({})).map((entry) => `${entry.version} ${entry.operation}`)),
    detail: await ask(async (table) => [`${(await table.detail()).numFiles}`]),
    health: await ask(async (table) => [
      `${(await table.health({ compaction: { targetFileBytes: 128 << 20, minInputFiles: 8, maxGroups: 16 } })).version}`,
    ]),
  };
}

async function answerOf(question: () => Promise<readonly string[]>): Promise<Answer> {
  try {
    return { kind: 'lines', lines: await question() };
  } catch (error) {
    const typed =
      isServiceError(error) && /^[A-Z][A-Z0-9_.]*$/.test(error.code) && error.kind !== 'internal' && namesPlace(error, 'fuzzed');
    const stack = error instanceof Error && !typed ? `\n${error.stack ?? ''}` : '';
    return {
      kind: 'error',
      typed,
      code: isServiceError(error) ? error.code : 'none',
      text: `${describeError(error).slice(0, 500)}${stack}`,
    };
  }
}

/** An error without the table or a file of it leaves whoever reads it to look for them. Messages in the words of Spark have the table beside. */
export function namesPlace(error: unknown, table: string): boolean {
  const text = describeError(error);
  const beside = isServiceError(error) ? error.context['table'] : undefined;
  return beside === table || text.includes(table) || /[\w-]\.(json|parquet|bin|crc|avro|puffin|orc|text)\b|file "\//.test(text);
}

async function rowsOf(engine: DuckdbEngine, scan: FileScan): Promise<readonly string[]> {
  const relation = await engine.scan(scan);
  try {
    const lines: string[] = [];
    for await (const batch of engine.read(relation)) lines.push(...canonicalRows(batch));
    return lines.sort();
  } finally {
    await relation.dispose();
  }
}

/** With a condition on every column that has an order, so that all statistics are looked at. */
async function filteredRows(engine: DuckdbEngine, table: QueryableTable): Promise<readonly string[]> {
  const snapshot = await table.refresh();
  const conditions = snapshot.schema.fields.map(
    (field): Expression => ({ kind: 'is', operand: { kind: 'column', path: [field.name] }, test: 'null', negated: true }),
  );
  const filter = conditions.reduce((left, right): Expression => ({ kind: 'binary', operator: 'or', left, right }));
  return rowsOf(engine, await table.scan(snapshot, { filter: bindExpression(filter, [{ schema: snapshot.schema }]) }));
}

async function changesOf(engine: DuckdbEngine, table: QueryableTable): Promise<readonly string[]> {
  const { version } = await table.refresh();
  const lines: string[] = [];
  for await (const change of table.changeScans({ from: toVersion(0), until: version })) {
    for (const line of await rowsOf(engine, change.scan)) lines.push(`${change.version} ${change.kind} ${line}`);
  }
  return lines.sort();
}
