import { instantFromNanos } from '#libs/base/instant.js';
import { object } from '#libs/edge/decoding/decode.js';
import type { ReconciliationReply } from '../../protocol/cell-replies.js';
import { printMicros } from '../../rules/micros.js';
import { printTime } from '../../rules/record.js';
import type { ExecutionParts } from '../execution-parts.js';
import { present } from '../present.js';
import { envelope, RefusedCall } from '../refusals.js';
import { exchange, uuidText } from './inputs.js';
import { procedure, type Procedure } from './procedure.js';
import { reserveRows } from './reserves.js';
import { unregistered } from './reading-procedures.js';
import { OF_CELL, OF_SIGNER, OF_VENUE, reportResult, reservesResult, signerResult } from './results.js';

const query = { kind: 'query', access: 'operator' } as const;

/** Reports for operators, such as differences between our records and the venues'. */
export function reportProcedures(): readonly Procedure[] {
  return [
    procedure(
      {
        name: 'admin.reconciliation.report',
        ...query,
        result: reportResult,
        statuses: OF_CELL,
        summary: 'Unexplained differences, and orders in doubt',
      },
      object({ optional: { userId: uuidText, exchangeId: exchange } }),
      async ({ parts, input: { userId: user_id, exchangeId: venue } }) => {
        if (venue !== undefined && !parts.venues.has(venue)) throw unregistered();
        const request = { ...present({ user_id, venue }), op: 'reconciliation' } as const;
        const answers = await parts.cells.askAll<'reconciliation'>(request);
        const reports = answers.map((answer) => {
          if (!answer.ok) throw new RefusedCall(envelope(answer.status, answer.refusal));
          return reportOf(answer.value);
        });
        return {
          differences: reports.flatMap(({ differences }) => differences),
          doubts: reports.flatMap(({ doubts }) => doubts),
          asOf: nowOf(parts),
        };
      },
    ),
    procedure(
      {
        name: 'admin.reserves.report',
        ...query,
        result: reservesResult,
        statuses: OF_VENUE,
        summary: 'Proof of reserves: what the vault owes, and what its accounts at the venues hold',
      },
      object({}),
      async ({ requestId, parts }) => ({ rows: await reserveRows(parts, requestId), asOf: nowOf(parts) }),
    ),
    procedure(
      {
        name: 'admin.signer.status',
        ...query,
        result: signerResult,
        statuses: OF_SIGNER,
        summary: 'The numbers of keys and signatures of the signer',
      },
      object({}),
      async ({ requestId: request_id, parts }) => {
        const { keys, signatures } = await parts.opened.executor.told<'signer_status'>({
          ...{ op: 'signer_status', request_id },
        });
        return { keys, signatures, asOf: nowOf(parts) };
      },
    ),
  ];
}

function nowOf({ clock }: ExecutionParts): string {
  return printTime(instantFromNanos(clock.epochNanos()));
}

function reportOf({ differences, doubts }: ReconciliationReply): { differences: object[]; doubts: object[] } {
  return {
    differences: differences.map(({ user_id, venue, asset, recorded, observed, since }) => ({
      ...{ userId: user_id, exchangeId: venue, asset },
      ...{ ledger: printMicros(recorded), venue: printMicros(observed), since: printTime(since) },
    })),
    doubts: doubts.map(({ order_id, since, is_stalled }) => ({
      ...{ orderId: order_id, since: printTime(since), stalled: is_stalled },
    })),
  };
}
