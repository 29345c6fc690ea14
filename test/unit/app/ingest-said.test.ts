import { describe, expect, it } from 'vitest';
import { ingestSaid } from '../../../src/app/ingest-said.ts';

describe('what a status page says of an ingest', () => {
  it('is that it stands still, and why, when it was refused before it could run', () => {
    const refused = { state: 'failed', detail: 'KEYS_REPEATED: table "t" has several rows of one key' } as const;
    expect(ingestSaid(undefined, refused)).toEqual(refused);
  });

  it('is that it begins, and what keeps it, until it runs', () => {
    expect(ingestSaid(undefined, { state: 'starting', detail: 'the store does not answer' })).toEqual({
      state: 'joining',
      detail: 'the store does not answer',
    });
  });

  it('is what a new start was refused for, not why the one before ended', () => {
    const before = { state: 'failed', detail: 'the table was replaced' } as const;
    expect(ingestSaid(before, { state: 'failed', detail: 'TABLE_DRIFT' })).toEqual({ state: 'failed', detail: 'TABLE_DRIFT' });
    expect(ingestSaid(before, { state: 'starting', detail: undefined })).toEqual(before);
  });

  it('is how it runs, and what keeps its commits from an end', () => {
    const waiting = { state: 'waiting-for-topic', detail: 'topic a does not exist' } as const;
    expect(ingestSaid(waiting, { state: 'starting', detail: 'topic a does not exist' })).toEqual(waiting);
    const running = { state: 'running', detail: undefined } as const;
    expect(ingestSaid(running, { state: 'running', detail: undefined })).toEqual(running);
    expect(ingestSaid(running, { state: 'failed', detail: 'no commit for 60 s' })).toEqual({
      state: 'running',
      detail: 'no commit for 60 s',
    });
  });

  it('is nothing of a table that the process does not fill', () => {
    expect(ingestSaid(undefined, undefined)).toBeUndefined();
  });
});
