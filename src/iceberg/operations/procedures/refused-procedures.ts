import type { Procedure, ProcedureParameter } from '../../../table/queries.ts';
import { unsupportedFeature } from '../../definition/definition-errors.ts';
import type { TableContext } from '../../table-context.ts';
import { optional, resultColumns } from './procedure-values.ts';

interface Refused {
  readonly name: string;
  readonly parameters: readonly ProcedureParameter[];
  readonly output: Procedure['output'];
  readonly hint: string;
}

const refused: readonly Refused[] = [
  {
    name: 'compute_partition_stats',
    parameters: [optional('snapshot_id', 'long')],
    output: resultColumns({ partition_statistics_file: 'string' }),
    hint: 'the metadata table partitions has the same numbers; call it in Spark for the file, which is kept',
  },
];

/** Procedures of other engines that are known and not there: they are refused by name, with what to do. */
export function refusedProcedures(context: TableContext): readonly Procedure[] {
  return refused.map(({ name, parameters, output, hint }) => ({
    name,
    parameters,
    output,
    run: () => Promise.reject(unsupportedFeature(`table "${context.name}": the procedure ${name}`, hint)),
  }));
}
