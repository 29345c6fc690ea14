import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type CommitEvent, type CommitState, nextCommitState } from '../../../src/commit/commit-state.ts';

const states: readonly CommitState[] = ['idle', 'committing', 'rebasing', 'verifying', 'done', 'discarded'];
const events: readonly CommitEvent[] = ['staged', 'committed', 'conflict', 'timeout', 'found', 'absent', 'rebased', 'stale'];

/** The table of the specification: `state/event` to next state, empty where it cannot happen. */
function specifiedCells(): ReadonlyMap<string, string> {
  const page = readFileSync(new URL('../../../docs/spec/commit-state-machine.md', import.meta.url), 'utf8');
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const header = rows.find(([first]) => first === 'state \\ event') ?? [];
  const cells = rows.flatMap(([names = '', ...row]) =>
    names.split(', ').flatMap((state) => row.map((next, index) => [`${state}/${header[index + 1] ?? ''}`, next] as const)),
  );
  return new Map(cells);
}

describe('the commit state machine', () => {
  it('has exactly the cells of its specification', () => {
    const specified = specifiedCells();
    for (const state of states) {
      for (const event of events) {
        const cell = `${state}/${event}`;
        const expected = specified.get(cell);
        expect(expected, cell).toBeDefined();
        if (expected === '')
          expect(() => nextCommitState(state, event), cell).toThrow(expect.objectContaining({ code: 'COMMIT_STATE_INVALID' }));
        else expect(nextCommitState(state, event), cell).toBe(expected);
      }
    }
  });
});
