import type { HeldRelation } from '../../engine/engine.ts';
import type { Plan } from '../plan/plan.ts';
import { withRelation } from './actions.ts';
import type { SessionRuntime } from './session-runtime.ts';

/** Evaluates a plan and keeps its rows until they are let go or the session ends. */
export async function keepRows(runtime: SessionRuntime, plan: Plan, signal?: AbortSignal): Promise<HeldRelation> {
  const held = await withRelation(runtime, plan, (relation, { engine }) => engine.materialize(relation, signal), signal);
  runtime.kept.add(held);
  return held;
}

/** Lets the rows go that a plan keeps, if it keeps some. */
export async function releaseRows(runtime: SessionRuntime, plan: Plan): Promise<void> {
  const kept = plan.kind === 'frame' && plan.input.kind === 'kept' ? plan.input.relation : undefined;
  for (const held of runtime.kept) {
    if (held !== kept) continue;
    runtime.kept.delete(held);
    await held.dispose();
  }
}
