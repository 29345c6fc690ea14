import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { createSession } from '../../../../src/app/session.ts';
import { runCli } from '../../../../src/cli/run-cli.ts';
import { emptyApp } from '../cli-support.ts';

const directory = mkdtempSync(join(tmpdir(), 'tidewater-shell-'));
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const historyFile = join(directory, 'state', 'history');
const ctrlC = '\u0003';
const ctrlD = '\u0004';
const up = '\u001b[A';

/** A conversation: what is typed, each part after the prompt that the last one led to. */
async function talk(...typed: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const stream = new PassThrough();
  const echo = new PassThrough();
  const left = [...typed];
  let out = '';
  let err = '';
  echo.on('data', (bytes: Buffer) => {
    // A prompt ends with a mark and a blank, then the terminal is told where the cursor is.
    if (/> \u001b\[\d+G$/.test(bytes.toString()) || /[>] $/.test(bytes.toString())) {
      const next = left.shift();
      if (next !== undefined) setImmediate(() => stream.write(next));
    }
  });
  const config = { 'spark.sql.warehouse.dir': join(directory, 'warehouse'), 'tidewater.engine.threads': '2' };
  const code = await runCli(['sql'], {
    env: { TIDEWATER_HISTORY: historyFile, NO_COLOR: '1' },
    workingDir: directory,
    readText: () => '',
    signal: new AbortController().signal,
    out: (text) => {
      out += text;
      return Promise.resolve();
    },
    err: (text) => {
      err += text;
      return Promise.resolve();
    },
    outBytes: () => Promise.resolve(),
    outIsTerminal: true,
    errIsTerminal: true,
    input: { stream, isTerminal: true, echo },
    loadApp: () => Promise.resolve({ ...emptyApp, openSession: (given) => createSession({ config: { ...config, ...given } }) }),
    version: '1.2.3',
  });
  return { code, out, err };
}

describe('the shell', () => {
  it('takes statements of several lines, several statements of a line, and its own commands', async () => {
    const { code, out, err } = await talk(
      '\\format csv\r',
      'SELECT 1 AS a,\r',
      "  'x;\r",
      "y' AS b; SELECT 2 AS c;\r",
      'CREATE TABLE t (id INT);\r',
      '\\dt\r',
      '\\q\r',
    );
    expect(code).toBe(0);
    expect(out).toBe('format is csv\na,b\r\n1,"x;\ny"\r\nc\r\n2\r\nok\nnamespace,tableName,isTemporary\r\ndefault,t,false\r\n');
    expect(err).toBe('tidewater 1.2.3: SQL on Delta and Iceberg tables. \\h for help, \\q to leave.\n\n');
  });

  it('goes on after an error, drops what was typed at Ctrl-C, and ends at Ctrl-D with 0', async () => {
    const { code, out, err } = await talk('\\format csv\r', 'SELCT 1;\r', 'SELECT 1,\r', `2${ctrlC}`, 'SELECT 3 AS a;\r', ctrlD);
    expect(code).toBe(0);
    expect(out).toBe('format is csv\na\r\n3\r\n');
    expect(err).toContain('error PARSE_SYNTAX_ERROR (42601)');
  });

  it('shows wide rows downwards after \\x, and help', async () => {
    const { out } = await talk('\\x\r', "SELECT 1 AS id, 'x' AS name;\r", '\\h\r', '\\q\r');
    expect(out).toContain('expanded is on\n-[ row 0 ]\nid   | 1\nname | x\n(1 row)\n');
    for (const command of ['\\d [table]', '\\dt', '\\l', '\\format', '\\x', '\\timing', '\\h', '\\q'])
      expect(out).toContain(`  ${command}`);
  });

  it('remembers lines in a file that only its owner reads, statements of several lines as one', async () => {
    await talk('SELECT 1 AS\r', 'remembered;\r', '\\q\r');
    expect(readFileSync(historyFile, 'utf8').split('\n').slice(0, 2)).toEqual(['\\q', 'SELECT 1 AS remembered;']);
    expect(statSync(historyFile).mode & 0o777).toBe(0o600);
    const { out } = await talk('\\format csv\r', `${up}${up}${up}\r`, '\\q\r');
    expect(out).toBe('format is csv\nremembered\r\n1\r\n');
  });
});
