import { describe, expect, it } from 'vitest';
import { partitionDirectory } from '../../../src/table/partition-directory.ts';

describe('partitionDirectory', () => {
  it('escapes names and values as Hive does, in the order of the columns', () => {
    expect(partitionDirectory([], {})).toBe('');
    expect(partitionDirectory(['b', 'a:'], { b: '/%20 ü', 'a:': '2024-01-01T10:00:00.000000Z' })).toBe(
      'b=%2F%2520 ü/a%3A=2024-01-01T10%3A00%3A00.000000Z/',
    );
  });

  it('gives null a name of its own and cuts what no file system takes, between characters', () => {
    expect(partitionDirectory(['p'], { p: undefined })).toBe('p=__HIVE_DEFAULT_PARTITION__/');
    const cut = partitionDirectory(['p'], { p: 'é'.repeat(300) });
    expect(cut).toBe(`p=${'é'.repeat(99)}/`);
  });
});
