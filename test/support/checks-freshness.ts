import { readTable } from './checks.ts';
import { eventually, type ProductProcess, runProduct } from './process.ts';
import type { PipelineCase, Produced } from './process-workload.ts';

interface Answer {
  readonly endOffset: number;
  readonly tables: readonly {
    readonly table: string;
    readonly state: string;
    readonly version: number | null;
    readonly behind: number | null;
  }[];
}

const askedPoison = 8;

/**
 * I13: what a running process answers about offsets is what was produced and what the log says, when everything is through: poison is in the
 * dead-letter topic, the rest in the version whose marks have passed it, in every table; what was not produced is one offset away.
 */
export async function freshnessFindings(running: ProductProcess, pipeline: PipelineCase, produced: Produced): Promise<readonly string[]> {
  const findings: string[] = [];
  const { versions } = readTable(pipeline);
  const versionOf = (partition: number, offset: bigint): number | undefined =>
    versions.find(({ marks }) => [...marks].some(([id, mark]) => id.split(':')[2] === String(partition) && mark > offset))?.version;
  const poison = [...produced.poison].slice(0, askedPoison).map((place) => place.split(':'));
  const places = [
    ...poison.map(([partition = '', offset = '']) => [Number(partition), BigInt(offset)] as const),
    ...[...produced.ends].flatMap(([partition, end]) => [0n, end / 2n, end - 1n, end].map((offset) => [partition, offset] as const)),
  ];
  for (const [partition, offset] of places) {
    const isPoison = produced.poison.has(`${partition}:${offset}`);
    const isThere = offset < (produced.ends.get(partition) ?? 0n);
    const expected = isThere ? (isPoison ? 'dead-letter' : 'visible') : 'not-yet';
    const ask = async (): Promise<Answer> =>
      (await running.probe(`/v1/freshness?topic=${pipeline.topic}&partition=${partition}&offset=${offset}`)).body as Answer;
    // A twin is a moment behind.
    const answer = await eventually(`${partition}:${offset} is ${expected} in every table`, async () => {
      const found = await ask();
      return found.tables.every(({ state }) => state === expected) ? found : undefined;
    }).catch(ask);
    for (const { table, state, version, behind } of answer.tables) {
      const said = `I13: ${partition}:${offset} in ${table}: ${state}, version ${String(version)}`;
      if (state !== expected) findings.push(`${said}, expected ${expected}`);
      else if (isThere && table === 'events' && version !== versionOf(partition, offset))
        findings.push(`${said}, the log says ${versionOf(partition, offset)}`);
      else if (!isThere && behind !== 1) findings.push(`${said}, ${String(behind)} behind`);
    }
  }
  return findings;
}

/** I14: a version that says it is whole through a time has the marks behind everything that was produced before that time. */
export async function timeFindings(pipeline: PipelineCase, produced: Produced, table = 'events'): Promise<readonly string[]> {
  const ran = await runProduct({ config: pipeline.config, args: ['history', table, '--limit', '10000', '--json'] });
  if (ran.code !== 0) return [`I14: history ended with ${String(ran.code)}: ${ran.log}`];
  const lines = ran.stdout.split('\n').filter((line) => line !== '');
  const times = new Map(
    lines
      .map((line) => JSON.parse(line) as { readonly version: number; readonly validThrough: string | null })
      .map((row) => [row.version, row.validThrough]),
  );
  const marks = new Map<string, bigint>();
  const findings: string[] = [];
  let told = 0;
  for (const { version, marks: moved } of readTable(pipeline).versions) {
    for (const [id, mark] of moved) marks.set(id.split(':')[2] ?? '', mark);
    const through = times.get(version) ?? null;
    if (through === null) continue;
    told += 1;
    const missing = produced.acknowledged.find(
      ({ atMs, partition, end }) => atMs < Date.parse(through) && (marks.get(String(partition)) ?? 0n) < end,
    );
    if (missing !== undefined)
      findings.push(
        `I14: version ${version} says it is whole through ${through}, and lacks what was produced to partition ${missing.partition} until ${missing.end}`,
      );
  }
  if (told === 0) findings.push('I14: no version says through which time it is whole');
  return findings;
}
