import type { JsonObject } from '../../base/bigint-json.ts';
import type { StructType } from '../../schema/types.ts';
import type { Action, ProtocolAction } from '../actions.ts';
import type { TransactionReads } from '../transaction/commit-transaction.ts';

/** What a change of a definition makes of the table; parts that are absent stay. */
export interface PlannedChange {
  readonly operation: string;
  readonly operationParameters: JsonObject;
  readonly schema?: StructType | undefined;
  readonly partitionColumns?: readonly string[] | undefined;
  readonly configuration?: Readonly<Record<string, string>> | undefined;
  readonly description?: { readonly text: string | undefined } | undefined;
  /** Writes the metadata although it is the same. */
  readonly alwaysMetadata?: boolean | undefined;
  /** Features the protocol must have from now on, beside those the definition uses. */
  readonly features?: readonly string[] | undefined;
  readonly minReaderVersion?: number | undefined;
  readonly minWriterVersion?: number | undefined;
  /** Instead of what the definition needs. */
  readonly protocol?: ProtocolAction | undefined;
  /** Domains and files. */
  readonly actions?: readonly Action[] | undefined;
  readonly clustered?: boolean | undefined;
  readonly reads?: TransactionReads | undefined;
}
