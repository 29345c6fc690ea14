import type { Procedure } from '../../../table/queries.ts';
import type { TableContext } from '../../table-context.ts';
import { copyProcedures } from './copy-procedures.ts';
import { filesProcedures } from './files-procedures.ts';
import { rewriteProcedures } from './rewrite-procedures.ts';
import { snapshotProcedures } from './snapshot-procedures.ts';
import { statisticsProcedures } from './statistics-procedures.ts';

/** What SQL can CALL on an Iceberg table, under the names and with the results of the reference implementation. */
export function icebergProcedures(context: TableContext): readonly Procedure[] {
  return [
    ...snapshotProcedures(context),
    ...rewriteProcedures(context),
    ...filesProcedures(context),
    ...copyProcedures(context),
    ...statisticsProcedures(context),
  ];
}
