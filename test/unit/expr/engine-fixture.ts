import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import { loadDuckdb } from '../../../src/engine/duckdb-modules.ts';
import { registerGeneratedSizeFunction } from '../../../src/engine/generated-size-function.ts';
import { registerTextFunctions } from '../../../src/engine/text-functions.ts';
import { registerVariantFunctions } from '../../../src/engine/variant-functions.ts';
import { bindExpression, type Scope } from '../../../src/expr/bind-expression.ts';
import { bindNow } from '../../../src/expr/bind-parameters.ts';
import { parseExpression } from '../../../src/expr/parse/parse-expression.ts';
import { columnPathSql, expressionSql } from '../../../src/expr/sql/engine-sql.ts';
import type { StructType } from '../../../src/schema/types.ts';

/** 2024-02-29 10:00:00.5 UTC. */
export const now: bigint = 1_709_200_800_500_000n;

/** An engine that evaluates expressions over the rows of a query. */
export class TestEngine {
  readonly #instance: DuckDBInstance;
  readonly connection: DuckDBConnection;

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#instance = instance;
    this.connection = connection;
  }

  static async open(): Promise<TestEngine> {
    const instance = await DuckDBInstance.create(':memory:', { autoinstall_known_extensions: 'false', threads: '1' });
    const connection = await instance.connect();
    await connection.run("SET TimeZone = 'UTC'");
    const modules = await loadDuckdb();
    registerVariantFunctions(modules, connection);
    registerGeneratedSizeFunction(modules, connection);
    registerTextFunctions(modules, connection);
    return new TestEngine(instance, connection);
  }

  close(): void {
    this.connection.closeSync();
    this.#instance.closeSync();
  }

  async rows(sql: string): Promise<readonly (readonly DuckDBValue[])[]> {
    return (await this.connection.runAndReadAll(sql)).getRows();
  }

  /** The expression's values over the rows of `from`, each as the engine prints it. */
  async values(text: string, schema: StructType, from: string): Promise<readonly string[]> {
    const scope: Scope = [{ alias: 't', schema }];
    const sql = expressionSql(bindNow(bindExpression(parseExpression(text), scope), { micros: now }), (path) => columnPathSql(path, 't'));
    return (await this.rows(`SELECT ${sql} FROM (${from}) t`)).map(([value]) =>
      value === null || value === undefined ? 'NULL' : print(value),
    );
  }
}

function print(value: DuckDBValue): string {
  return typeof value === 'number' && Object.is(value, -0) ? '-0' : String(value);
}
