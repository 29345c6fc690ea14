import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokenize } from '../../../src/expr/parse/tokens.ts';

function shown(text: string): readonly string[] {
  return tokenize(text)
    .slice(0, -1)
    .map(({ kind, value }) => `${kind}:${value}`);
}

describe('tokens', () => {
  it.each([
    ['a.b', ['word:a', 'operator:.', 'word:b']],
    ['`a``b`.`select`', ['quoted-name:a`b', 'operator:.', 'quoted-name:select']],
    ['\'it\'\'s\' "x""y"', ['string:it\'sx"y']],
    ["'a' /* joined */ 'b' c", ['string:ab', 'word:c']],
    ["'\\n\\t\\\\\\'\\u00e9\\U0001F600\\101\\%\\q'", ["string:\n\t\\'é\u{1f600}A\\%q"]],
    ['r\'\\n\' R"x"', ['string:\\nx']],
    ['X\'1f\' x"00"', ['binary:1f', 'binary:00']],
    ['1L 1S 1Y 1.5BD 1e3 1.0D 1F .5 1.', ['1L', '1S', '1Y', '1.5BD', '1e3', '1.0D', '1F', '.5', '1.'].map((text) => `number:${text}`)],
    ['2024_sales', ['word:2024_sales']],
    ['t.1', ['word:t', 'operator:.', 'number:1']],
    [
      'a<=>b<=c<>d!=e==f||g->h=>i::j',
      'a <=> b <= c <> d != e == f || g -> h => i :: j'.split(' ').map((part) => (/\w/.test(part) ? `word:${part}` : `operator:${part}`)),
    ],
    ['ARRAY<ARRAY<INT>>', ['word:ARRAY', 'operator:<', 'word:ARRAY', 'operator:<', 'word:INT', 'operator:>', 'operator:>']],
    ['x = :from AND y = ?', ['word:x', 'operator:=', 'parameter:from', 'word:AND', 'word:y', 'operator:=', 'parameter:?']],
    ['STRUCT<a:INT>', ['word:STRUCT', 'operator:<', 'word:a', 'operator::', 'word:INT', 'operator:>']],
    ['a -- rest\n/* x /* nested */ y */ b', ['word:a', 'word:b']],
    ['größe 列', ['word:größe', 'word:列']],
  ])('%s', (text, expected) => {
    expect(shown(text)).toEqual(expected);
  });

  it('each has its place and its range', () => {
    const text = 'a\n  `b c`\t= 12';
    expect(tokenize(text).map(({ position, end }) => [position.line, position.column, text.slice(position.offset, end)])).toEqual([
      [1, 1, 'a'],
      [2, 3, '`b c`'],
      [2, 9, '='],
      [2, 11, '12'],
      [2, 13, ''],
    ]);
  });

  it.each([
    ["a = 'open", 1, 5],
    ['\n "open', 2, 2],
    ['`open', 1, 1],
    ['a /* open /* */', 1, 3],
    ['a \u0001 b', 1, 3],
    ['a \\ b', 1, 3],
    ["X'1G'", 1, 1],
  ])('%j is refused at line %i, column %i', (text, line, column) => {
    expect(() => tokenize(text)).toThrow(
      expect.objectContaining({
        errorClass: 'PARSE_SYNTAX_ERROR',
        sqlState: '42601',
        position: expect.objectContaining({ line, column }) as unknown,
      }),
    );
  });

  it('any text gives tokens within it, in order, or a typed error', () => {
    const part = fc.constantFrom(
      "'",
      '"',
      '`',
      '\\',
      '/*',
      '*/',
      '--',
      '\n',
      ':',
      '?',
      'a',
      '1',
      '.5',
      'e3',
      'x',
      'r',
      '$',
      '\u{1f600}',
      '\0',
      '<=>',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const text = parts.join('');
        let end = 0;
        try {
          for (const token of tokenize(text)) {
            expect(token.position.offset).toBeGreaterThanOrEqual(end);
            end = token.end;
          }
          expect(end).toBe(text.length);
        } catch (error) {
          expect(error).toMatchObject({ name: 'ParseException', sqlState: '42601' });
        }
      }),
      { numRuns: 2000 },
    );
  });
});
