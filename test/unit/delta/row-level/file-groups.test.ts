import { expect, test } from 'vitest';
import type { AddFile } from '../../../../src/delta/actions.ts';
import { fileGroups, maxGroupBytes, maxGroupFiles } from '../../../../src/delta/row-level/file-groups.ts';

const file = (storedPath: string, sizeBytes: number): AddFile => ({
  kind: 'add',
  path: storedPath,
  storedPath,
  partitionValues: {},
  sizeBytes,
  modifiedMs: 0,
  dataChange: true,
});

test('files come by path, in groups of a bounded size', () => {
  const half = maxGroupBytes / 2;
  const groups = fileGroups([file('c', half), file('a', half), file('d', maxGroupBytes * 3), file('b', half), file('e', 1)]);
  expect(groups.map((group) => group.map(({ path }) => path))).toEqual([['a', 'b'], ['c'], ['d'], ['e']]);
});

test('a group has a bounded number of files, and none is lost', () => {
  const files = Array.from({ length: maxGroupFiles * 2 + 1 }, (_, index) => file(`p${index}`, 1));
  expect(fileGroups(files).map((group) => group.length)).toEqual([maxGroupFiles, maxGroupFiles, 1]);
  expect(fileGroups([])).toEqual([]);
});
