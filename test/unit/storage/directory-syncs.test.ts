import { describe, expect, it } from 'vitest';
import { DirectorySyncs } from '../../../src/storage/directory-syncs.ts';

/** Syncs that end when they are told to. */
function held(): { readonly syncs: DirectorySyncs; readonly begun: string[]; readonly end: (error?: Error) => Promise<void> } {
  const begun: string[] = [];
  const endings: ((error?: Error) => void)[] = [];
  const syncs = new DirectorySyncs((directory) => {
    begun.push(directory);
    return new Promise((resolve, reject) => {
      endings.push((error) => {
        if (error === undefined) resolve();
        else reject(error);
      });
    });
  });
  return {
    syncs,
    begun,
    end: async (error) => {
      endings.shift()?.(error);
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    },
  };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

describe('syncs of directories', () => {
  it('are shared by all who come while one runs, and never by those it began before', async () => {
    const { syncs, begun, end } = held();
    const ended: string[] = [];
    const ask = (name: string): void => {
      void syncs.sync('d').then(() => ended.push(name));
    };
    ask('first');
    await turns();
    expect(begun).toEqual(['d']);
    ask('second');
    ask('third');
    await turns();
    expect(begun).toEqual(['d']);
    await end();
    expect(ended).toEqual(['first']);
    expect(begun).toEqual(['d', 'd']);
    ask('fourth');
    await end();
    expect(ended).toEqual(['first', 'second', 'third']);
    await end();
    expect(ended).toEqual(['first', 'second', 'third', 'fourth']);
    expect(begun).toHaveLength(3);
  });

  it('fail only those who waited for the one that failed', async () => {
    const { syncs, end } = held();
    const first = syncs.sync('d');
    await turns();
    const second = syncs.sync('d');
    first.catch(() => undefined);
    await end(new TypeError('disk'));
    await expect(first).rejects.toThrow('disk');
    await end();
    await expect(second).resolves.toBeUndefined();
  });

  it('of different directories do not wait for one another', async () => {
    const { syncs, begun, end } = held();
    const both = [syncs.sync('a'), syncs.sync('b')];
    await turns();
    expect(begun).toEqual(['a', 'b']);
    await end();
    await end();
    await Promise.all(both);
  });
});
