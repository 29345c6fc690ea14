import fc from 'fast-check';

/** `SEED=7`, or for one test alone `SEED=7:0:1:1` (as a failure prints it), runs the same inputs again; `PROPERTY_RUNS=20` runs everything so many times as often, `PROPERTY_RUNS=0.3` less often; `PROPERTY_SHRINK=no` shows what was found as it was found. */
const [seedText = '', ...pathParts] = (process.env['SEED'] ?? '').split(':');
const times = Number(process.env['PROPERTY_RUNS'] ?? '1');

const defaultSeed = 20_261_121;

/** The seed of tests that try the same inputs every time, unless `SEED` says otherwise. */
export function seedOr(fixed: number): number {
  return seedText === '' || seedText === 'random' ? fixed : Number(seedText);
}

/** The seed of this process; stands in the names of the tests. The same each time unless `SEED` says otherwise; `SEED=random`: another one. */
export const propertySeed: number = seedText === 'random' ? Date.now() % 2 ** 31 : seedOr(defaultSeed);

/** Longest a test of a property takes; inputs that are left by then are not tried. */
const limitMs = times > 1 ? 3_600_000 : 120_000;

/** For the tests themselves: long enough to shrink what was found. */
export const propertyTimeoutMs: number = limitMs + 60_000;

/** How many of `usual` tries are asked for. */
export function triesOf(usual: number): number {
  return Math.ceil(usual * times);
}

export interface PropertyRuns {
  /** Of a default run. */
  readonly runs: number;
  /** Default: `propertySeed`. */
  readonly seed?: number | undefined;
}

/**
 * Tries a property with random inputs. A failure names the seed and the path of the smallest input that fails, and how to run just that
 * again. Shrinking is bounded: a run of ours costs about a tenth of a second.
 */
export async function holds<Input>(
  input: fc.Arbitrary<Input>,
  property: (input: Input) => Promise<void>,
  { runs, seed = propertySeed }: PropertyRuns,
): Promise<void> {
  const path = pathParts.join(':');
  const details = await fc.check(fc.asyncProperty(input, property), {
    seed,
    numRuns: triesOf(runs),
    ...(path === '' ? {} : { path }),
    endOnFailure: path !== '' || process.env['PROPERTY_SHRINK'] === 'no',
    interruptAfterTimeLimit: limitMs,
  });
  if (!details.failed || details.counterexample === null) return;
  const replay = `SEED=${details.seed}:${details.counterexamplePath}`;
  const [example] = details.counterexample;
  throw new Error(
    `replay this test alone (-t) with ${replay} (after ${details.numRuns} runs and ${details.numShrinks} steps of shrinking)\n${fc.stringify(example).slice(0, 4000)}\n${messageOf(details.errorInstance)}`,
    { cause: details.errorInstance },
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
