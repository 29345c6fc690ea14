import { assertNever } from '../../../base/assert.ts';
import type { TimeZone } from '../../../expr/time-zone.ts';
import type { DataType } from '../../../schema/types.ts';
import type { Procedure, ProcedureParameter, ProcedureValue } from '../../../table/queries.ts';

type ParameterType = ProcedureParameter['type'];
type ParameterTypes = Readonly<Record<string, ParameterType>>;
type NoTypes = Readonly<Record<string, never>>;

/** What a procedure gets for its parameters, by their types; a timestamp in milliseconds since the epoch. */
interface Values {
  readonly string: string;
  readonly int: number;
  readonly long: bigint;
  readonly boolean: boolean;
  readonly timestamp: number;
  readonly 'string-map': ReadonlyMap<string, string>;
  readonly 'string-list': readonly string[];
  readonly 'long-list': readonly bigint[];
}

type Given<Required extends ParameterTypes, Optional extends ParameterTypes> = {
  readonly [Name in keyof Required]: Values[Required[Name]];
} & { readonly [Name in keyof Optional]: Values[Optional[Name]] | undefined };

interface ProcedureSpec<Required extends ParameterTypes, Optional extends ParameterTypes> {
  readonly name: string;
  /** In the order of arguments without names, before the optional ones. */
  readonly required?: Required;
  readonly optional?: Optional;
  /** Columns of the result; all may be null. */
  readonly output: Readonly<Record<string, 'string' | 'integer' | 'long' | 'timestamp'>>;
  readonly run: (
    given: Given<Required, Optional>,
    signal: AbortSignal | undefined,
    zone: TimeZone | undefined,
  ) => Promise<readonly (readonly ProcedureValue[])[]>;
}

/** A procedure whose arguments come as its parameters' types say. */
export function procedure<const Required extends ParameterTypes = NoTypes, const Optional extends ParameterTypes = NoTypes>(
  spec: ProcedureSpec<Required, Optional>,
): Procedure {
  const { name, required = {}, optional = {}, output, run } = spec;
  const parametersOf = (types: ParameterTypes, isRequired: boolean): readonly ProcedureParameter[] =>
    Object.entries(types).map(([parameter, type]) => ({ name: parameter, type, required: isRequired }));
  const parameters = [...parametersOf(required, true), ...parametersOf(optional, false)];
  const typeOf = (kind: (typeof output)[string]): DataType => ({ kind });
  return {
    name,
    parameters,
    output: {
      kind: 'struct',
      fields: Object.entries(output).map(([column, kind]) => ({ name: column, type: typeOf(kind), nullable: true })),
    },
    run: (args, signal, zone) => {
      const given = parameters.map((parameter) => {
        const value = valueOf(parameter.type, args.get(parameter.name));
        return [parameter.name, parameter.required ? (value ?? emptyOf[parameter.type]) : value];
      });
      return run(Object.fromEntries(given) as Given<Required, Optional>, signal, zone);
    },
  };
}

/** In the place of NULL for a parameter that is required. */
const emptyOf: Partial<Values> = { string: '', int: 0, long: 0n, timestamp: 0 };

function valueOf(type: ParameterType, value: ProcedureValue): Values[ParameterType] | undefined {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'int':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
    case 'long':
      return typeof value === 'number' || typeof value === 'bigint' ? BigInt(value) : undefined;
    case 'timestamp':
      return typeof value === 'number' || typeof value === 'bigint' ? millisOf(BigInt(value)) : undefined;
    case 'string-map':
      return value instanceof Map ? (value as ReadonlyMap<string, string>) : undefined;
    case 'string-list':
      return Array.isArray(value) ? value.map(String) : undefined;
    case 'long-list':
      return Array.isArray(value) ? (value as readonly (string | bigint)[]).map(BigInt) : undefined;
    default:
      return assertNever(type);
  }
}

function millisOf(micros: bigint): number {
  return Number(micros / 1_000n - (micros % 1_000n < 0n ? 1n : 0n));
}
