import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StatementScanner } from '../../../../src/cli/sql/statement-scanner.ts';
import { splitStatements } from '../../../../src/session/statements/split-statements.ts';

interface Place {
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

function scan(pieces: readonly string[]): readonly Place[] {
  const scanner = new StatementScanner();
  return [...pieces.flatMap((piece) => scanner.push(piece)), ...scanner.finish()];
}

describe('the scanner', () => {
  it.each([
    ["SELECT ';' ; SELECT 2", ["SELECT ';'", 'SELECT 2']],
    ['SELECT 1;;; -- ; nothing\n;', ['SELECT 1']],
    ['/* a ; /* b ; */ ; */ SELECT /*+ hint ; */ 1; /* end */', ['SELECT /*+ hint ; */ 1']],
    ["SELECT 'it''s; \\'; ok'; SELECT r'\\'; SELECT \"a;\"", ["SELECT 'it''s; \\'; ok'", "SELECT r'\\'", 'SELECT "a;"']],
    ['SELECT `a;``b`; x', ['SELECT `a;``b`', 'x']],
    ['SELECT 2*/*c;*/3; SELECT 1 - -1; SELECT 4/2', ['SELECT 2*/*c;*/3', 'SELECT 1 - -1', 'SELECT 4/2']],
    ["SELECT '\u00e9;\u{1F600}' ;\ufeff SELECT 1", ["SELECT '\u00e9;\u{1F600}'", 'SELECT 1']],
    ['', []],
  ])('cuts %j at its semicolons', (text, expected) => {
    expect(scan([text]).map((statement) => statement.text)).toEqual(expected);
    expect(scan(Array.from(text)).map((statement) => statement.text)).toEqual(expected);
  });

  it('gives what is not closed to the parser, which says so', () => {
    expect(scan(["SELECT 'a; b"])).toEqual([{ text: "SELECT 'a; b", line: 1, column: 1 }]);
    expect(scan(['\n /* a; b'])).toEqual([{ text: '/* a; b', line: 2, column: 2 }]);
  });

  it('tells what is missing', () => {
    const scanner = new StatementScanner();
    const after = (piece: string): string => {
      scanner.push(piece);
      return scanner.pending;
    };
    expect(after('')).toBe('nothing');
    expect(after('  -- a comment\n')).toBe('nothing');
    expect(after('/* and')).toBe('comment');
    expect(after(' another */ ')).toBe('nothing');
    expect(after('SELECT ')).toBe('statement');
    expect(after("'a;")).toBe('text');
    expect(after("b' -- c")).toBe('statement');
    expect(after('\n;')).toBe('nothing');
  });

  it('refuses a statement that does not end', () => {
    const scanner = new StatementScanner();
    expect(() => scanner.push('x'.repeat(16 * 1024 * 1024 + 1))).toThrow(/longer than 16777216 characters/);
  });

  it('finds the statements and places that the tokenizer finds, however the text arrives', () => {
    const part = fc.constantFrom(
      ...[
        'SELECT',
        ' ',
        '\n',
        ';',
        "'",
        "''",
        '"',
        '`',
        '\\',
        '--',
        '-',
        '/*',
        '*/',
        '*',
        '/',
        'r',
        'x',
        'R',
        "r'",
        'a1',
        '1',
        '1.5',
        ':p',
        '?',
        '(',
        ')',
        '\t',
      ],
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), (parts, size) => {
        const text = parts.join('');
        const whole = expectedOf(text);
        if (whole === undefined) return;
        const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
        expect(scan(pieces).map(({ line, column }) => ({ line, column }))).toEqual(whole.map(({ line, column }) => ({ line, column })));
        // The tokenizer leaves comments at a statement's end out, the scanner keeps them.
        expect(scan(pieces).every(({ text: found }, index) => found.startsWith(whole[index]?.text ?? '?'))).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });
});

/** `undefined` for text that has no tokens. */
function expectedOf(text: string): readonly Place[] | undefined {
  try {
    return splitStatements(text).map((statement) => ({ text: statement.text, line: statement.at.line, column: statement.at.column }));
  } catch {
    return undefined;
  }
}
