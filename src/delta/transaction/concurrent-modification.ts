import { AnalysisException } from '../../base/analysis-exception.ts';
import { type JsonObject, printJson } from '../../base/bigint-json.ts';
import type { Version } from '../../table/version.ts';

/** The version that stands against a transaction. */
export interface WinningCommit {
  /** As messages name it. */
  readonly table: string;
  readonly version: Version;
  /** What the version says about itself, if it does. */
  readonly info: JsonObject | undefined;
}

interface Description {
  readonly name: string;
  readonly errorClass: string;
  readonly message: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const guide = 'Refer to https://docs.delta.io/latest/concurrency-control.html for more information.';
const again = 'run the operation again: it starts from the newest version of the table';

/**
 * Somebody else committed a version that this transaction cannot be put behind. Nothing of the transaction became visible; the whole
 * operation can be run again.
 */
export class DeltaConcurrentModificationException extends AnalysisException {
  /** The version that was first. */
  readonly conflictingVersion: Version;

  constructor(winner: WinningCommit, description: Description) {
    const { errorClass, message, parameters } = description;
    super({ errorClass, kind: 'conflict', message, parameters, hint: again });
    this.name = description.name;
    this.conflictingVersion = winner.version;
  }
}

/** Rows were added that this transaction should have read. */
export class ConcurrentAppendException extends DeltaConcurrentModificationException {
  constructor(winner: WinningCommit) {
    super(winner, {
      name: 'ConcurrentAppendException',
      errorClass: 'DELTA_CONCURRENT_APPEND.WITHOUT_HINT',
      message:
        `Transaction conflict detected. a concurrent ${operationOf(winner)} added data to table ${winner.table} committed at version ` +
        `${winner.version}. The concurrent operation modified data that should have been read by this operation. Please retry the ` +
        `operation. ${guide}`,
      parameters: parametersOf(winner),
    });
  }
}

/** Rows were removed that this transaction read. */
export class ConcurrentDeleteReadException extends DeltaConcurrentModificationException {
  constructor(winner: WinningCommit) {
    super(winner, {
      name: 'ConcurrentDeleteReadException',
      errorClass: 'DELTA_CONCURRENT_DELETE_READ.WITHOUT_HINT',
      message:
        `Transaction conflict detected, a concurrent ${operationOf(winner)} deleted data from table ${winner.table} (committed at version ` +
        `${winner.version}) that this transaction read. The concurrent operation deleted data that was read by this operation. Please ` +
        `retry the operation. ${guide}`,
      parameters: parametersOf(winner),
    });
  }
}

/** A file was removed that this transaction removes too. */
export class ConcurrentDeleteDeleteException extends DeltaConcurrentModificationException {
  constructor(winner: WinningCommit) {
    super(winner, {
      name: 'ConcurrentDeleteDeleteException',
      errorClass: 'DELTA_CONCURRENT_DELETE_DELETE.WITHOUT_HINT',
      message:
        `Transaction conflict detected, a concurrent ${operationOf(winner)} deleted data from table ${winner.table} (committed at version ` +
        `${winner.version}) that this transaction also deletes. Please retry the operation. ${guide}`,
      parameters: parametersOf(winner),
    });
  }
}

/** The application stored another version of its own mark meanwhile: it runs twice. */
export class ConcurrentTransactionException extends DeltaConcurrentModificationException {
  constructor(winner: WinningCommit) {
    super(winner, {
      name: 'ConcurrentTransactionException',
      errorClass: 'DELTA_CONCURRENT_TRANSACTION',
      message:
        'ConcurrentTransactionException: This error occurs when multiple streaming queries are using the same checkpoint to write into ' +
        'this table. Did you run multiple instances of the same streaming query at the same time?' +
        `${conflictingCommit(winner)}\n${guide}`,
      parameters: parametersOf(winner),
    });
  }
}

/** Schema, partitioning, properties or a domain of the table changed, or the table was replaced. */
export class MetadataChangedException extends DeltaConcurrentModificationException {
  constructor(winner: WinningCommit) {
    super(winner, {
      name: 'MetadataChangedException',
      errorClass: 'DELTA_METADATA_CHANGED',
      message:
        `MetadataChangedException: The metadata of the Delta table ${winner.table} has been changed by a concurrent update. Please try ` +
        `the operation again.${conflictingCommit(winner)}\n${guide}`,
      parameters: parametersOf(winner),
    });
  }
}

/** What writers of the table must know changed; also: somebody else created the table first. */
export class ProtocolChangedException extends DeltaConcurrentModificationException {
  constructor(winner: WinningCommit) {
    const creating =
      winner.version === 0
        ? ' This happens when multiple writers are writing to an empty directory. Creating the table ahead of time will avoid this conflict.'
        : '';
    super(winner, {
      name: 'ProtocolChangedException',
      errorClass: 'DELTA_PROTOCOL_CHANGED',
      message:
        'ProtocolChangedException: The protocol version of the Delta table has been changed by a concurrent update.' +
        `${creating} Please try the operation again.${conflictingCommit(winner)}\n${guide}`,
      parameters: parametersOf(winner),
    });
  }
}

/** Something was committed whose content is not known any more, so that nothing can be said to hold. */
export class ConcurrentWriteException extends DeltaConcurrentModificationException {
  constructor(winner: WinningCommit) {
    super(winner, {
      name: 'ConcurrentWriteException',
      errorClass: 'DELTA_CONCURRENT_WRITE',
      message:
        'ConcurrentWriteException: A concurrent transaction has written new data since the current transaction read the table. Please ' +
        `try the operation again.${conflictingCommit(winner)}\n${guide}`,
      parameters: parametersOf(winner),
    });
  }
}

function parametersOf(winner: WinningCommit): Readonly<Record<string, string>> {
  return { operation: operationOf(winner), tableName: winner.table, version: String(winner.version) };
}

function operationOf(winner: WinningCommit): string {
  const operation = winner.info?.['operation'];
  return typeof operation === 'string' ? operation : 'transaction';
}

function conflictingCommit(winner: WinningCommit): string {
  return winner.info === undefined ? '' : `\nConflicting commit: ${printJson({ version: winner.version, ...winner.info })}`;
}
