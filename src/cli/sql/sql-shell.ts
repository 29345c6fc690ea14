import { createInterface, type Interface } from 'node:readline';
import type { CommandSession } from '../command-session.ts';
import { printError } from '../print-error.ts';
import { isShellCommand, runShellCommand } from './shell-command.ts';
import { historyPath, maxHistoryLines, ShellHistory } from './shell-history.ts';
import type { SqlRunner } from './sql-runner.ts';
import { type PendingInput, StatementScanner } from './statement-scanner.ts';

/** Talks to a person until they leave. Errors are printed and the conversation goes on. */
export async function runShell(command: CommandSession, runner: SqlRunner): Promise<void> {
  const shell = new SqlShell(command, runner);
  await shell.run();
}

const marks: Readonly<Record<PendingInput, string>> = { nothing: '>', statement: '->', text: "'>", comment: '*>' };

class SqlShell {
  readonly #command: CommandSession;
  readonly #runner: SqlRunner;
  readonly #scanner = new StatementScanner();
  readonly #history: ShellHistory;
  #lines: string[];
  /** Lines of the history that belong to the statement that is being typed. */
  #typedLines: string[] = [];
  /** The statement that is being typed is another one without its line breaks. */
  #linesMatter = false;
  #running: AbortController | undefined;
  /** The end of what is typed may come while a statement runs: nothing is asked for then. */
  #closed = false;

  constructor(command: CommandSession, runner: SqlRunner) {
    this.#command = command;
    this.#runner = runner;
    this.#history = new ShellHistory(historyPath(command.environment.env));
    this.#lines = this.#history.load();
  }

  async run(): Promise<void> {
    const { environment, terminal } = this.#command;
    const { stream, echo } = environment.input;
    await terminal.err(`tidewater ${environment.version}: SQL on Delta and Iceberg tables. \\h for help, \\q to leave.\n`);
    const readline = createInterface({
      input: stream,
      output: echo,
      terminal: true,
      history: this.#lines,
      historySize: maxHistoryLines,
      removeHistoryDuplicates: true,
      signal: environment.signal,
    });
    readline.on('close', () => {
      this.#closed = true;
    });
    readline.on('history', (lines) => {
      this.#lines = lines;
    });
    readline.on('SIGINT', () => {
      this.#interrupt(readline);
    });
    try {
      this.#prompt(readline);
      for await (const line of readline) {
        if ((await this.#take(line)) === 'quit') break;
        this.#prompt(readline);
      }
    } finally {
      readline.close();
      const problem = this.#history.save(this.#lines);
      await terminal.err(problem === undefined ? '\n' : `\nthe history was not kept: ${problem}\n`);
    }
  }

  async #take(line: string): Promise<'continue' | 'quit'> {
    if (this.#scanner.pending === 'nothing') {
      this.#scanner.reset();
      this.#typedLines = [];
      this.#linesMatter = false;
      if (isShellCommand(line))
        return this.#guarded((signal) => runShellCommand(line, { runner: this.#runner, out: this.#command.terminal.out, signal }));
    }
    this.#typedLines.push(line);
    return this.#guarded(async (signal) => {
      const statements = this.#scanner.push(`${line}\n`);
      this.#linesMatter ||= this.#scanner.pending === 'text' || line.includes('--');
      if (statements.length > 0) this.#joinTypedLines();
      for (const statement of statements) await this.#runner.run(statement, { signal });
      return 'continue';
    });
  }

  /** Errors of what was typed are printed; what came after them on the line is dropped. */
  async #guarded(work: (signal: AbortSignal) => Promise<'continue' | 'quit'>): Promise<'continue' | 'quit'> {
    const { environment, terminal } = this.#command;
    const running = new AbortController();
    this.#running = running;
    try {
      return await work(AbortSignal.any([running.signal, environment.signal]));
    } catch (error) {
      this.#scanner.reset();
      if (running.signal.aborted) await terminal.err('stopped\n');
      else await printError(error, terminal);
      return 'continue';
    } finally {
      this.#running = undefined;
    }
  }

  #interrupt(readline: Interface): void {
    if (this.#running !== undefined) {
      this.#running.abort('Ctrl-C');
      return;
    }
    this.#scanner.reset();
    this.#typedLines = [];
    // To the end of the line, then everything before it.
    readline.write(null, { ctrl: true, name: 'e' });
    readline.write(null, { ctrl: true, name: 'u' });
    this.#command.environment.input.echo.write('^C\n');
    this.#prompt(readline);
  }

  #prompt(readline: Interface): void {
    if (this.#closed) return;
    const { pending } = this.#scanner;
    const place = this.#runner.session.runtime.tables.currentNamespace.join('.');
    readline.setPrompt(`${pending === 'nothing' ? place : ' '.repeat(Math.max(0, place.length - 1))}${marks[pending]} `);
    readline.prompt();
  }

  /** A statement of several lines comes back as one, unless a comment or a text goes to the end of a line. */
  #joinTypedLines(): void {
    const typed = this.#typedLines;
    const inHistory = this.#lines.slice(0, typed.length).toReversed();
    if (typed.length < 2 || this.#linesMatter || typed.join('\n') !== inHistory.join('\n')) return;
    this.#lines.splice(0, typed.length, typed.map((line) => line.trim()).join(' '));
  }
}
