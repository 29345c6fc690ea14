import type { DuckDBConnection } from '@duckdb/node-api';
import { buildColumn } from '../codec/build-columns.ts';
import { textAt } from '../codec/rows.ts';
import type { VariantBytes } from '../codec/variant/fold-variant.ts';
import { parseJsonVariant } from '../codec/variant/parse-json-variant.ts';
import { variantAtIndex, variantColumn } from '../codec/variant/variant-column.ts';
import { variantJson, variantText } from '../codec/variant/variant-forms.ts';
import { variantAt, variantPath } from '../codec/variant/variant-path.ts';
import { variantType } from '../codec/variant/variant-type-text.ts';
import { variantFunctions } from '../expr/sql/variant-sql.ts';
import { type Column, isValid } from '../schema/columns.ts';
import type { DataType } from '../schema/types.ts';
import { type ColumnFunction, registerColumnFunction } from './column-function.ts';
import type { DuckdbModules } from './duckdb-modules.ts';

const variant: DataType = { kind: 'variant' };
const text: DataType = { kind: 'string' };

/** Makes `variantFunctions` known to all connections of the instance. */
export function registerVariantFunctions(modules: DuckdbModules, connection: DuckDBConnection): void {
  const register = (name: string, takes: readonly DataType[], gives: DataType, of: ColumnFunction['of']): void => {
    registerColumnFunction(modules, connection, { name, takes, gives, of });
  };
  register(variantFunctions.parse, [text], variant, ([json], rows) => variantsOf(rows, (row) => givenText(json, row, parseJsonVariant)));
  register(variantFunctions.json, [variant], text, ([value], rows) => textsOf(rows, (row) => givenVariant(value, row, variantJson)));
  register(variantFunctions.text, [variant], text, ([value], rows) => textsOf(rows, (row) => givenVariant(value, row, variantText)));
  register(variantFunctions.type, [variant], text, ([value], rows) => textsOf(rows, (row) => givenVariant(value, row, variantType)));
  register(variantFunctions.at, [variant, text], variant, ([value, path], rows) =>
    variantsOf(rows, (row) => {
      const steps = givenText(path, row, variantPath);
      return steps === undefined ? undefined : givenVariant(value, row, (bytes) => variantAt(bytes, steps));
    }),
  );
}

function variantsOf(rows: number, value: (row: number) => VariantBytes | undefined): Column {
  return variantColumn(Array.from({ length: rows }, (_, row) => value(row)));
}

function textsOf(rows: number, value: (row: number) => string | undefined): Column {
  return buildColumn(
    text,
    Array.from({ length: rows }, (_, row) => value(row)),
    'text',
  );
}

function givenText<Result>(column: Column | undefined, row: number, use: (text: string) => Result): Result | undefined {
  return column?.layout === 'bytes' && isValid(column, row) ? use(textAt(column, row)) : undefined;
}

function givenVariant<Result>(column: Column | undefined, row: number, use: (bytes: VariantBytes) => Result): Result | undefined {
  return column?.layout === 'struct' && isValid(column, row) ? use(variantAtIndex(column, row)) : undefined;
}
