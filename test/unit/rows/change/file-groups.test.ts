import { expect, it } from 'vitest';
import { fileGroups, maxGroupBytes, maxGroupFiles } from '../../../../src/rows/change/file-groups.ts';

interface SomeFile {
  readonly path: string;
  readonly sizeBytes: number;
}

const file = (path: string, sizeBytes: number): SomeFile => ({ path, sizeBytes });
const itself = (some: SomeFile): SomeFile => some;

it('files come by path, in groups of a bounded size', () => {
  const half = maxGroupBytes / 2;
  const groups = fileGroups([file('c', half), file('a', half), file('d', maxGroupBytes * 3), file('b', half), file('e', 1)], itself);
  expect(groups.map((group) => group.map(({ path }) => path))).toEqual([['a', 'b'], ['c'], ['d'], ['e']]);
});

it('a group has a bounded number of files, and none is lost', () => {
  const files = Array.from({ length: maxGroupFiles * 2 + 1 }, (_, index) => file(`p${index}`, 1));
  expect(fileGroups(files, itself).map((group) => group.length)).toEqual([maxGroupFiles, maxGroupFiles, 1]);
  expect(fileGroups([], itself)).toEqual([]);
});
