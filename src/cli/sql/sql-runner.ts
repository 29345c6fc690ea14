import { ParseException, type TextPosition } from '../../base/analysis-exception.ts';
import { assertNever } from '../../base/assert.ts';
import { printable, printableLine } from '../../base/printable.ts';
import type { StructType } from '../../schema/types.ts';
import type { DataFrame } from '../../session/data-frame.ts';
import type { Session } from '../../session/session.ts';
import { CsvPrinter } from './csv-printer.ts';
import { JsonPrinter } from './json-printer.ts';
import type { ResultFormat, ResultPrinter } from './result-format.ts';
import type { ScannedStatement } from './statement-scanner.ts';
import { TablePrinter, VerticalPrinter, wholeText } from './table-printer.ts';

const asItIs = (text: string): string => text;

export interface PrintSettings {
  readonly format: ResultFormat;
  /** Tables with one line for each cell. */
  readonly expanded: boolean;
  /** Tells after each statement how long it took. */
  readonly timing: boolean;
  /** Says so when a statement succeeds that has no result. */
  readonly confirm: boolean;
  /** Data goes to a person's terminal, which it must not command. */
  readonly forPerson: boolean;
}

export interface SqlRunnerParts {
  readonly session: Session;
  readonly out: (text: string) => Promise<void>;
  /** For what is not a result: timing. */
  readonly err: (text: string) => Promise<void>;
  readonly settings: PrintSettings;
}

/** Executes statements and prints what they give, as it comes. */
export class SqlRunner {
  readonly session: Session;
  settings: PrintSettings;
  readonly #out: (text: string) => Promise<void>;
  readonly #err: (text: string) => Promise<void>;

  constructor(parts: SqlRunnerParts) {
    this.session = parts.session;
    this.settings = parts.settings;
    this.#out = parts.out;
    this.#err = parts.err;
  }

  /**
   * Executes one statement and prints its result.
   *
   * @param input what the statement stands in, for messages, such as a file's name.
   * @throws what `Session.sql` throws, with places counted from the beginning of the input.
   */
  async run(statement: ScannedStatement, options: { readonly input?: string | undefined; readonly signal: AbortSignal }): Promise<void> {
    const startedAt = performance.now();
    try {
      const frame = await this.session.sql(statement.text, undefined, { signal: options.signal });
      await this.#print(frame, options.signal);
    } catch (error) {
      throw locateError(error, statement, options.input);
    }
    if (this.settings.timing) await this.#err(`time ${((performance.now() - startedAt) / 1000).toFixed(3)} s\n`);
  }

  async #print(frame: DataFrame, signal: AbortSignal): Promise<void> {
    const printer = printerOf(this.settings);
    let schema: StructType | undefined;
    let rowCount = 0;
    for await (const batch of frame.columnBatches({ signal })) {
      if (batch.rowCount === 0) continue;
      const text = this.settings.format === 'table' && rowCount === 0 ? wholeText(batch) : undefined;
      rowCount += batch.rowCount;
      if (text !== undefined) {
        await this.#out(text.endsWith('\n') ? text : `${text}\n`);
        continue;
      }
      const head = schema === undefined ? printer.begin(batch.schema) : '';
      schema = batch.schema;
      await this.#out(head + printer.rows(batch));
    }
    if (schema !== undefined) await this.#out(printer.end(rowCount));
    else if (rowCount === 0) await this.#printEmpty(printer, await frame.schema);
  }

  async #printEmpty(printer: ResultPrinter, schema: StructType): Promise<void> {
    if (schema.fields.length > 0) await this.#out(printer.begin(schema) + printer.end(0));
    else if (this.settings.confirm) await this.#out('ok\n');
  }
}

function printerOf({ format, expanded, forPerson }: PrintSettings): ResultPrinter {
  switch (format) {
    case 'table':
      return expanded ? new VerticalPrinter() : new TablePrinter();
    case 'csv':
      return new CsvPrinter(forPerson ? printable : asItIs);
    case 'json':
      return new JsonPrinter(forPerson ? printableLine : asItIs);
    default:
      return assertNever(format);
  }
}

/** An error of a statement as one of the whole input: line and column count from the input's beginning. Other errors stay as they are. */
function locateError(error: unknown, statement: ScannedStatement, input: string | undefined): unknown {
  if (!(error instanceof ParseException)) return error;
  const { message, position, text, errorClass, alias, parameters, kind, hint, cause } = error;
  const place = placeInInput(position, statement);
  const before = `line ${position.line}, column ${position.column}`;
  const after = `${input === undefined ? '' : `${input}, `}line ${place.line}, column ${place.column}`;
  return new ParseException({
    errorClass,
    alias,
    parameters,
    kind,
    hint,
    cause,
    message: message.includes(before) ? message.replace(before, after) : `${message} (${after})`,
    position: place,
    // Blank lines stand for what was before the statement: the place stays right, and nothing else is shown of it.
    text: `${'\n'.repeat(statement.line - 1)}${' '.repeat(statement.column - 1)}${text}`,
  });
}

function placeInInput(position: TextPosition, statement: ScannedStatement): TextPosition {
  return {
    offset: statement.line - 1 + statement.column - 1 + position.offset,
    line: statement.line + position.line - 1,
    column: position.line === 1 ? statement.column + position.column - 1 : position.column,
  };
}
