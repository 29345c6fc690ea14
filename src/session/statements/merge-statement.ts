import { AnalysisException } from '../../base/analysis-exception.ts';
import { type Expression, nullExpression, trueLiteral } from '../../expr/expression.ts';
import { syntaxError } from '../../expr/parse/syntax-error.ts';
import type { Assignment, MergeClause } from '../../table/row-operations.ts';
import { readAssignments, readTargetColumn } from './row-statements.ts';
import type { MergeStatement, ObjectName } from './statement.ts';
import type { StatementReader } from './statement-reader.ts';

interface Target {
  readonly name: ObjectName;
  readonly alias: string | undefined;
}

/** After MERGE. @throws ParseException; AnalysisException `NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION` 42613 and its kin. */
export function readMerge(reader: StatementReader): MergeStatement {
  const { stream } = reader;
  const schemaEvolution = stream.takeWords('WITH', 'SCHEMA', 'EVOLUTION');
  stream.expectWords('INTO');
  const name = reader.tableOrPath();
  const target = { name, alias: reader.alias() };
  stream.expectWords('USING');
  const source: MergeStatement['source'] = stream.atOperator('(')
    ? { kind: 'query', query: reader.parenthesisedQuery() }
    : { kind: 'table', table: reader.tableSource() };
  const sourceAlias = reader.alias();
  stream.expectWords('ON');
  const clauses: MergeClause[] = [];
  const merge = { kind: 'merge' as const, target: name, targetAlias: target.alias, source, sourceAlias, clauses, schemaEvolution };
  let condition: Expression;
  try {
    condition = readCondition(reader, 'search');
    while (stream.takeWords('WHEN')) clauses.push(readClause(reader, target));
  } catch (error) {
    if (!(error instanceof AskingCondition)) throw error;
    while (!reader.atStatementEnd()) stream.next();
    return { ...merge, condition: trueLiteral, asks: error.clause };
  }
  if (clauses.length === 0) {
    const message = 'There must be at least one WHEN clause in a MERGE statement';
    throw syntaxError({
      text: stream.text,
      position: stream.position,
      found: '',
      errorClass: 'MERGE_WITHOUT_WHEN',
      message,
      expected: ['WHEN'],
    });
  }
  if (!reader.atStatementEnd()) throw stream.unexpected('WHEN', 'the end of the statement');
  checkConditions(clauses);
  return { ...merge, condition };
}

/** A condition has a query in it: what tables think of that is theirs to say. */
class AskingCondition extends Error {
  readonly clause: string;

  constructor(clause: string, cause: unknown) {
    super('a condition of MERGE asks a query', { cause });
    this.clause = clause;
  }
}

function readCondition(reader: StatementReader, clause: string): Expression {
  try {
    return reader.expression();
  } catch (error) {
    if (error instanceof AnalysisException && error.errorClass === 'UNSUPPORTED_SUBQUERY')
      throw new AskingCondition(`${clause} condition`, error);
    throw error;
  }
}

function readClause(reader: StatementReader, target: Target): MergeClause {
  const { stream } = reader;
  const on = readKind(reader);
  const condition = stream.takeWords('AND') ? { condition: readCondition(reader, on) } : {};
  stream.expectWords('THEN');
  if (on === 'not-matched') {
    stream.expectWords('INSERT');
    return { on, action: 'insert', ...condition, values: readInsertValues(reader, target) };
  }
  if (stream.expectOneOf('UPDATE', 'DELETE') === 'DELETE') return { on, action: 'delete', ...condition };
  stream.expectWords('SET');
  if (on === 'not-matched-by-source') return { on, action: 'update', ...condition, assignments: readAssignments(reader, target) };
  return { on, action: 'update', ...condition, assignments: stream.takeOperator('*') ? 'all' : readAssignments(reader, target) };
}

function readKind({ stream }: StatementReader): MergeClause['on'] {
  if (stream.takeWords('MATCHED')) return 'matched';
  if (!stream.takeWords('NOT')) throw stream.unexpected('MATCHED', 'NOT');
  stream.expectWords('MATCHED');
  return stream.takeWords('BY') && stream.expectOneOf('SOURCE', 'TARGET') === 'SOURCE' ? 'not-matched-by-source' : 'not-matched';
}

function readInsertValues(reader: StatementReader, target: Target): readonly Assignment[] | 'all' {
  const { stream } = reader;
  if (stream.takeOperator('*')) return 'all';
  const columns = stream.parenthesised(() => readTargetColumn(reader, target));
  stream.expectWords('VALUES');
  const at = stream.peek();
  const values = stream.parenthesised(() => reader.expression());
  if (values.length !== columns.length) {
    const message = `The number of inserted values (${values.length}) is not the number of columns (${columns.length})`;
    throw syntaxError({ text: stream.text, position: at.position, found: '', errorClass: '_LEGACY_ERROR_TEMP_0006', message });
  }
  return columns.map((column, index) => ({ target: column, value: values[index] ?? nullExpression }));
}

const omitted = {
  matched: ['NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION', 'MATCHED'],
  'not-matched': ['NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION', 'NOT MATCHED [BY TARGET]'],
  'not-matched-by-source': ['NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION', 'NOT MATCHED BY SOURCE'],
} as const;

/** Of the clauses of one kind, the first that holds is applied: one without condition hides those after it. */
function checkConditions(clauses: readonly MergeClause[]): void {
  for (const [index, clause] of clauses.entries()) {
    if (clause.condition !== undefined || !clauses.slice(index + 1).some(({ on }) => on === clause.on)) continue;
    const [errorClass, kind] = omitted[clause.on];
    throw new AnalysisException({
      errorClass,
      message: `When there are more than one ${kind} clauses in a MERGE statement, only the last ${kind} clause can omit the condition.`,
    });
  }
}
