import { Injectable } from '@nestjs/common';
import { BOUND } from '#libs/edge/endpoint-decorator.js';
import { bind, endpoint, type BoundEndpoint, type IdKind } from '#libs/edge/endpoint.js';
import { ANY_PROCEDURE, NO_SUCH_PROCEDURE } from '../dialect.js';
import { chainEndpoints } from '../exchanges/chain-endpoints.js';
import { ExecutionParts } from '../execution-parts.js';
import { balanceProcedures } from './balance-procedures.js';
import { fundsProcedures } from './funds-procedures.js';
import { operatorProcedures } from './operator-procedures.js';
import { endpointsOfProcedure } from './procedure.js';
import { readingProcedures } from './reading-procedures.js';
import { reportProcedures } from './report-procedures.js';

const PROCEDURES = [
  ...balanceProcedures(),
  ...readingProcedures(),
  ...fundsProcedures(),
  ...operatorProcedures(),
  ...reportProcedures(),
];

const anyName: IdKind = {
  fault: 'VALIDATION_INVALID_PARAMETER',
  accepts: () => true,
  describe: () => ({ type: 'string' }),
};

/** Endpoints that are declared in tables: the RPC procedures, and the calls that only venues on a chain support. */
@Injectable()
export class ProceduresController {
  readonly [BOUND]: readonly BoundEndpoint[];

  constructor(parts: ExecutionParts) {
    this[BOUND] = tabledEndpoints(() => parts);
  }
}

/** `parts` is called only when a procedure runs, so documents can be made without any parts. */
export function tabledEndpoints(parts: () => ExecutionParts): readonly BoundEndpoint[] {
  return [
    ...PROCEDURES.flatMap((one) => endpointsOfProcedure(one, parts)),
    ...unknownProcedures(),
    ...chainEndpoints(),
  ];
}

function unknownProcedures(): readonly BoundEndpoint[] {
  return (['GET', 'POST'] as const).map((method) =>
    bind(
      endpoint({
        ...{
          operationId: `${method.toLowerCase()}Procedure`,
          method,
          path: ANY_PROCEDURE,
          access: 'session',
        },
        ids: { procedure: anyName },
        summary: 'Any other procedure. It does not exist',
        statuses: { 404: ['RPC_PROCEDURE_NOT_FOUND'] },
      }),
      () => NO_SUCH_PROCEDURE,
    ),
  );
}
