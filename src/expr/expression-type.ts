import type { DataType } from '../schema/types.ts';
import type { BinaryOperator, Expression, Literal } from './expression.ts';
import type { CallExpression, FunctionSpec } from './function-spec.ts';
import { commonOf } from './functions/common-argument.ts';
import { findFunction } from './functions.ts';
import { arithmeticType, type Operand } from './number-types.ts';
import { parameterType } from './parameter-types.ts';

const boolean: DataType = { kind: 'boolean' };
const comparisons: ReadonlySet<BinaryOperator> = new Set<BinaryOperator>(['and', 'or', '=', '<>', '<', '<=', '>', '>=', '<=>']);

/** The type of a bound expression's values by Spark's rules; `undefined` where it depends on what is not known here. */
export function expressionType(expression: Expression): DataType | undefined {
  switch (expression.kind) {
    case 'column':
      // Like NULL, of any type.
      return expression.type?.kind === 'void' ? undefined : expression.type;
    case 'literal':
      return literalType(expression.literal);
    case 'unary':
      return expression.operator === 'not' ? boolean : expressionType(expression.operand);
    case 'binary':
      return comparisons.has(expression.operator)
        ? boolean
        : arithmeticType(expression.operator, operandOf(expression.left), operandOf(expression.right));
    case 'is':
    case 'is-distinct':
    case 'in':
    case 'between':
    case 'like':
      return boolean;
    case 'case':
      return commonType([
        ...expression.branches.map(({ then }) => then),
        ...(expression.otherwise === undefined ? [] : [expression.otherwise]),
      ]);
    case 'cast':
      return expression.type;
    case 'call': {
      const spec = findFunction(expression.name);
      return spec?.type?.(argumentTypes(spec, expression), expression);
    }
    case 'member': {
      const operand = expressionType(expression.operand);
      const wanted = expression.name.toLowerCase();
      return operand?.kind === 'struct' ? operand.fields.find(({ name }) => name.toLowerCase() === wanted)?.type : undefined;
    }
    case 'element': {
      const operand = expressionType(expression.operand);
      return operand?.kind === 'list' ? operand.element : operand?.kind === 'map' ? operand.value : undefined;
    }
    case 'alias':
      return expressionType(expression.operand);
    case 'lambda':
      return expressionType(expression.body);
    case 'parameter':
    case 'star':
      return undefined;
  }
}

/** The types that a function takes its arguments as. */
export function argumentTypes({ takes }: FunctionSpec, call: CallExpression): readonly (DataType | undefined)[] {
  return call.arguments.map((argument, index) => {
    const type = expressionType(argument);
    return takes === undefined ? type : parameterType(takes[Math.min(index, takes.length - 1)], type, isNullLiteral(argument));
  });
}

/** NULL as it is written, which takes any type. */
export function isNullLiteral(expression: Expression): boolean {
  return expression.kind === 'literal' && expression.literal.type === 'null';
}

/** The column type of a literal; `undefined` for NULL and intervals. */
export function literalType(literal: Literal): DataType | undefined {
  switch (literal.type) {
    case 'null':
    case 'interval':
      return undefined;
    case 'integer':
      return { kind: literal.width };
    case 'decimal':
      return { kind: 'decimal', precision: literal.precision, scale: literal.scale };
    default:
      return { kind: literal.type };
  }
}

function operandOf(expression: Expression): Operand {
  return { type: expressionType(expression), literal: expression.kind === 'literal' ? expression.literal : undefined };
}

function commonType(expressions: readonly Expression[]): DataType | undefined {
  return commonOf(expressions.filter((expression) => !isNullLiteral(expression)).map(expressionType));
}
