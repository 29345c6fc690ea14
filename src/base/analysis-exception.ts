import { ServiceError, type ServiceErrorOptions } from './errors.ts';
import { shownEntries } from './redaction.ts';
import { sqlStateOf } from './sql-states.ts';

export interface AnalysisExceptionOptions extends Omit<ServiceErrorOptions, 'code' | 'kind'> {
  /** Error class as the reference engines name it, such as `DELTA_VERSION_NOT_FOUND`; it is also the `code`. */
  readonly errorClass: string;
  /** What other versions of the engines call the same error. */
  readonly alias?: string | undefined;
  /** The values in the message, by name. */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
  /** Default `invalid`. */
  readonly kind?: ServiceErrorOptions['kind'] | undefined;
}

/**
 * A statement, an option or rows that cannot be: refused before anything is changed. Named and classified as Spark users know it.
 * The message begins with nothing but words; `toString` adds the class in brackets and the state, as Spark prints it.
 */
export class AnalysisException extends ServiceError {
  readonly errorClass: string;
  readonly alias: string | undefined;
  /** Five characters, by the class. */
  readonly sqlState: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;

  constructor(options: AnalysisExceptionOptions) {
    super({ ...options, code: options.errorClass, kind: options.kind ?? 'invalid' });
    this.name = 'AnalysisException';
    this.errorClass = options.errorClass;
    this.alias = options.alias;
    this.sqlState = sqlStateOf(options.errorClass);
    this.parameters = shownEntries(options.parameters ?? {});
  }
}

/** Where in a statement: 1-based line and column of its text, and the 0-based offset in UTF-16 units. */
export interface TextPosition {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

export interface ParseExceptionOptions extends AnalysisExceptionOptions {
  readonly position: TextPosition;
  /** The whole statement, to show the place. */
  readonly text: string;
}

/** Text that is not a statement or an expression: names the position, what was found and what was expected there. */
export class ParseException extends AnalysisException {
  readonly position: TextPosition;
  readonly text: string;

  constructor(options: ParseExceptionOptions) {
    super(options);
    this.name = 'ParseException';
    this.position = options.position;
    this.text = options.text;
  }
}
