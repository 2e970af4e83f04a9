import { instantFromNanos } from '#libs/base/instant.js';
import { object } from '#libs/edge/decoding/decode.js';
import { parseDecimal } from '#libs/base/decimals.js';
import type { ReconciliationReply } from '../../protocol/cell-replies.js';
import { printMicros, type Micros } from '../../rules/micros.js';
import { printTime } from '../../rules/record.js';
import { CAPABILITIES, venueNamed } from '../../rules/venues.js';
import type { VenueBalances } from '../../venues/port.js';
import type { ExecutionParts } from '../execution-parts.js';
import { present } from '../present.js';
import { envelope, RefusedCall } from '../refusals.js';
import { exchange, uuidText } from './inputs.js';
import { procedure, type Procedure } from './procedure.js';

const PLACES = 6;
const query = { kind: 'query', access: 'operator' } as const;

/** What operators read: where our records and the venues' differ. */
export function reportProcedures(parts: ExecutionParts): readonly Procedure[] {
  const { cells, clock } = parts;
  const now = (): string => printTime(instantFromNanos(clock.epochNanos()));
  return [
    procedure(
      {
        name: 'admin.reconciliation.report',
        ...query,
        summary: 'Differences that nothing explains, and orders in doubt',
      },
      object({ optional: { userId: uuidText, exchangeId: exchange } }),
      async ({ input: { userId: user_id, exchangeId: venue } }) => {
        const asked = { ...present({ user_id, venue }), op: 'reconciliation' } as const;
        const answers = await cells.askAll<'reconciliation'>(asked);
        const told = answers.map((answer) => {
          if (!answer.ok) throw new RefusedCall(envelope(answer.status, answer.refusal));
          return reportOf(answer.value);
        });
        return {
          differences: told.flatMap(({ differences }) => differences),
          doubts: told.flatMap(({ doubts }) => doubts),
          asOf: now(),
        };
      },
    ),
    procedure(
      { name: 'admin.reserves.report', ...query, summary: 'The whole vault beside its own accounts' },
      object({}),
      async ({ requestId }) => ({ rows: await reserveRows(parts, requestId), asOf: now() }),
    ),
    procedure(
      {
        name: 'admin.signer.status',
        ...query,
        summary: 'How many keys the signer keeps, and what it signed',
      },
      object({}),
      async ({ requestId: request_id }) => {
        const { keys, signatures } = await parts.opened.executor.told<'signer_status'>({
          ...{ op: 'signer_status', request_id },
        });
        return { keys, signatures, asOf: now() };
      },
    ),
  ];
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

/** A venue that cannot be read fails the whole: half a proof would be none. */
async function reserveRows(parts: ExecutionParts, request_id: string): Promise<object[]> {
  const { venues, opened } = parts;
  const owed = await opened.reads.ledger.reserves();
  const seen = new Map<string, VenueBalances>();
  for (const venue of venues.ids) {
    const told = await opened.executor.told<'vault_balances'>({ op: 'vault_balances', request_id, venue });
    seen.set(venue, told);
  }
  return owed.flatMap((row) => {
    const balances = seen.get(row.exchangeId);
    if (balances === undefined) return [];
    const observed = observedOf(row.exchangeId, row.asset, balances);
    const difference = observed + microsOf(row.issued) - microsOf(row.owed);
    return [{ ...row, observed: printMicros(observed), difference: printMicros(difference) }];
  });
}

function observedOf(exchangeId: string, asset: string, { cash, tokens }: VenueBalances): Micros {
  const venue = venueNamed(exchangeId)?.venue;
  const isMoney = venue !== undefined && CAPABILITIES[venue].settlement_currency === asset;
  if (isMoney) return cash.reduce<Micros>((sum, { value }) => sum + value, 0n);
  return tokens
    .filter(({ token_id, market_id, outcome }) => (token_id ?? `${market_id}:${outcome}`) === asset)
    .reduce<Micros>((sum, { quantity }) => sum + quantity, 0n);
}

function microsOf(text: string): Micros {
  return parseDecimal(text, PLACES)?.units ?? 0n;
}
