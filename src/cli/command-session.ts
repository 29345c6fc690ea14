import { type Command, InvalidArgumentError } from 'commander';
import type { AppCommands, CommandContext } from '../app/app-commands.ts';
import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import { parseDuration } from '../base/quantities.ts';
import { type LoadedConfig, loadConfig } from '../config/load-config.ts';
import type { Terminal } from './terminal.ts';

/** What the process around the command line gives it. */
export interface CliEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workingDir: string;
  readonly readText: (path: string) => string;
  readonly signal: AbortSignal;
  readonly out: (text: string) => Promise<void>;
  /** What is no text, to standard output. */
  readonly outBytes: (bytes: Uint8Array) => Promise<void>;
  readonly err: (text: string) => Promise<void>;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** Standard input; only `sql` reads it. */
  readonly input: CliInput;
  /** Makes the application's commands; called only by commands that need them, so that `config print` stays quick. */
  readonly loadApp: () => Promise<AppCommands>;
  readonly version: string;
}

/** Where a command reads from when no file or text is named. */
export interface CliInput {
  readonly stream: NodeJS.ReadableStream;
  /** Whether a person types it. */
  readonly isTerminal: boolean;
  /** Where a person sees what is typed. */
  readonly echo: NodeJS.WritableStream;
}

/** Options every command has. */
interface GlobalOptions {
  readonly config?: readonly string[] | undefined;
  readonly set?: readonly string[] | undefined;
  readonly json?: boolean | undefined;
}

/** Used when neither `--config` nor TIDEWATER_CONFIG names a file. */
const defaultConfigFile = 'tidewater.yaml';

/** One run of one command: its global options, its terminal, its configuration. */
export class CommandSession {
  readonly environment: CliEnvironment;
  readonly terminal: Terminal;
  readonly #options: GlobalOptions;

  constructor(command: Command, environment: CliEnvironment) {
    this.environment = environment;
    this.#options = command.optsWithGlobals<GlobalOptions>();
    this.terminal = terminalOf(environment, this.#options.json === true);
  }

  loadConfig(): LoadedConfig {
    return this.#loadFiles(this.#namedFiles ?? [defaultConfigFile]);
  }

  /** For commands that need no configuration: the one that the user names, if any. */
  namedConfig(): LoadedConfig | undefined {
    const files = this.#namedFiles;
    return files === undefined ? undefined : this.#loadFiles(files);
  }

  context(): CommandContext {
    return { loaded: this.loadConfig(), signal: this.environment.signal };
  }

  /** As `context`, of the files that the user names, if any, with settings on top. */
  contextWith(overrides: readonly string[]): CommandContext {
    return { loaded: this.#loadFiles(this.#namedFiles ?? [], overrides), signal: this.environment.signal };
  }

  app(): Promise<AppCommands> {
    return this.environment.loadApp();
  }

  /** Those that the user names, if any. */
  get configFiles(): readonly string[] | undefined {
    return this.#namedFiles;
  }

  get #namedFiles(): readonly string[] | undefined {
    return this.#options.config ?? this.environment.env['TIDEWATER_CONFIG']?.split(',').filter((file) => file !== '');
  }

  #loadFiles(files: readonly string[], more: readonly string[] = []): LoadedConfig {
    const { env, workingDir, readText } = this.environment;
    return loadConfig({ files, env, overrides: [...(this.#options.set ?? []), ...more], workingDir, readText });
  }
}

/** `NO_COLOR` (https://no-color.org) and `TERM=dumb` turn colours off. */
export function terminalOf(environment: CliEnvironment, json: boolean): Terminal {
  const { env, out, err, outIsTerminal, errIsTerminal } = environment;
  const wanted = (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb' && !json;
  return { out, err, json, colour: wanted && outIsTerminal, errorColour: wanted && errIsTerminal };
}

/** For commander: a whole number from `min` up. */
export function wholeNumber(min: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < min)
      throw new InvalidArgumentError(`expected a whole number from ${min} up`);
    return value;
  };
}

/** For commander: a duration such as `7d`, as milliseconds. */
export function duration(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(isServiceError(error) ? `${error.message}; ${error.hint ?? ''}` : String(error));
  }
}

/** For commander: an option that may be given again and again. */
export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

/** The command line is wrong. */
export function usageError(message: string, hint?: string): ServiceError {
  return serviceError.invalid('USAGE_INVALID', message, { hint });
}
