import { expect, it } from 'vitest';
import { placeLines } from '../../../src/cli/print-error.ts';

const at = (text: string, line: number, column: number): readonly string[] => placeLines({ text, position: { offset: 0, line, column } });

it('shows the line with a mark below the place', () => {
  expect(at('SELECT *\nFORM t', 2, 1)).toEqual(['  2 | FORM t', '    | ^']);
  expect(at('SELECT', 1, 7)).toEqual(['  1 | SELECT', '    |       ^']);
});

it('keeps tabs, so that the mark stands where the terminal puts it, and shows no other control characters', () => {
  expect(at('\tSELECT \u001b[2J x', 1, 9)).toEqual(['  1 | \tSELECT \ufffd[2J x', '    | \t       ^']);
});

it('shows the part of a long line that matters', () => {
  const [line = '', mark = ''] = at(`${'a'.repeat(500)}!${'b'.repeat(500)}`, 1, 501);
  expect(line.length).toBeLessThan(120);
  expect(line[mark.indexOf('^')]).toBe('!');
  expect(line.slice(6)).toMatch(/^…a+!b+…$/);
});

it('shows nothing of a blank line', () => {
  expect(at('', 1, 1)).toEqual([]);
  expect(at('SELECT', 3, 1)).toEqual([]);
});
