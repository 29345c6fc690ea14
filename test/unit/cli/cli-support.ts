import { PassThrough, Readable } from 'node:stream';
import type { AppCommands } from '../../../src/app/app-commands.ts';
import { ServiceError } from '../../../src/base/errors.ts';
import { runCli } from '../../../src/cli/run-cli.ts';

export interface CliRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CliSetup {
  readonly app?: Partial<AppCommands> | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly files?: Readonly<Record<string, string>> | undefined;
  readonly terminal?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Standard input. */
  readonly input?: string | undefined;
}

export const minimalFile = 'pipeline: demo\n';

function notAsked(): Promise<never> {
  return Promise.reject(new ServiceError({ code: 'TEST_NOT_ASKED', kind: 'internal', message: 'this command was not expected' }));
}

export const emptyApp: AppCommands = {
  serve: notAsked,
  init: notAsked,
  checkFeedSchemas: notAsked,
  listTables: notAsked,
  describeTable: notAsked,
  history: notAsked,
  offsets: notAsked,
  freshness: notAsked,
  readTable: notAsked,
  tailChanges: notAsked,
  maintain: notAsked,
  openSession: () => {
    throw new ServiceError({ code: 'TEST_NOT_ASKED', kind: 'internal', message: 'this command was not expected' });
  },
  operateFeeds: notAsked,
  audit: notAsked,
  listLetters: notAsked,
  showLetter: notAsked,
  replayLetters: notAsked,
};

/** Runs a command line over `tidewater.yaml` in `/work`. */
export async function cli(commandLine: string | readonly string[], setup: CliSetup = {}): Promise<CliRun> {
  const files = setup.files ?? { '/work/tidewater.yaml': minimalFile };
  let out = '';
  let err = '';
  const code = await runCli(typeof commandLine === 'string' ? commandLine.split(' ').filter((part) => part !== '') : commandLine, {
    env: setup.env ?? {},
    workingDir: '/work',
    readText: (path) => {
      const text = files[path];
      if (text === undefined) throw new ServiceError({ code: 'TEST_FILE_MISSING', kind: 'not-found', message: `no file ${path}` });
      return text;
    },
    signal: setup.signal ?? new AbortController().signal,
    out: (text) => {
      out += text;
      return Promise.resolve();
    },
    outBytes: (bytes) => {
      out += Buffer.from(bytes).toString('latin1');
      return Promise.resolve();
    },
    err: (text) => {
      err += text;
      return Promise.resolve();
    },
    outIsTerminal: setup.terminal === true,
    errIsTerminal: setup.terminal === true,
    input: { stream: Readable.from([setup.input ?? '']), isTerminal: false, echo: new PassThrough() },
    loadApp: () => Promise.resolve({ ...emptyApp, ...setup.app }),
    version: '1.2.3',
  });
  return { code, out, err };
}
