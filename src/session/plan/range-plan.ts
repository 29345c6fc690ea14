import type { StructType } from '../../schema/types.ts';
import { invalidArgument } from '../session-errors.ts';
import type { Plan } from './plan.ts';

const schema: StructType = { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: false }] };

/** One column `id` with `from`, `from + step` … before `until`. @throws AnalysisException `INVALID_ARGUMENT` for a step of 0 or numbers past 64 bits. */
export function rangePlan(from: bigint, until: bigint, step: bigint): Plan {
  if (step === 0n) throw invalidArgument('the step of a range cannot be 0');
  for (const bound of [from, until, step])
    if (BigInt.asIntN(64, bound) !== bound) throw invalidArgument(`${bound} does not fit into 64 bits`);
  return {
    kind: 'kept',
    relation: { sql: `SELECT "range" AS "id" FROM range(${from}::BIGINT, ${until}::BIGINT, ${step}::BIGINT)`, schema },
  };
}
