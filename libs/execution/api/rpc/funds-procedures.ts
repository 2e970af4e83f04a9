import { object } from '#libs/edge/decoding/decode.js';
import { enumOf, text } from '#libs/edge/decoding/decode-scalars.js';
import { printMicros } from '../../rules/micros.js';
import { printTime } from '../../rules/record.js';
import { failureRecord } from '../../rules/failures.js';
import type { Transfer } from '../../rules/holdings.js';
import type { TransferToken } from '../../rules/events.js';
import { CAPABILITIES, tradingDomain, type VenueId } from '../../rules/venues.js';
import { orderCaller } from '../caller.js';
import { linkVenue } from '../exchanges/linking.js';
import { wrongField } from '../refusals.js';
import { present } from '../present.js';
import { amountText, anyId, exchange, limit, USUAL_LIMIT, uuidText } from './inputs.js';
import { procedure, type Procedure } from './procedure.js';
import { LINKING, linkResult, MOVING, OF_CELL, transferResult, transfersResult } from './results.js';
import { unregistered } from './reading-procedures.js';
import type { Venues } from '../venues.js';
import { vaultAsset } from './vault-asset.js';

const CODE = 'VALIDATION_INVALID_PARAMETER';
const requestKey = text({ minLength: 1, maxLength: 64, printable: true });
const custodyDomain = enumOf(['vault', 'chain', 'kalshi_usd']);

/** Linking a venue, and transfers between the vault and a trading domain. For sessions only. */
export function fundsProcedures(): readonly Procedure[] {
  return [
    linking(),
    procedure(
      {
        name: 'funds.transfer',
        kind: 'mutation',
        access: 'session',
        result: transferResult,
        statuses: MOVING,
        summary: 'Move money or tokens to or from the vault',
      },
      object({
        required: {
          exchangeId: exchange,
          asset: anyId,
          amount: amountText,
          from: custodyDomain,
          to: custodyDomain,
        },
        optional: { clientRequestId: requestKey },
      }),
      async ({ caller, requestId, input, parts: { cells, venues, opened } }) => {
        const { exchangeId: venue, asset, amount, from, to, clientRequestId } = input;
        if (!venues.has(venue)) throw unregistered();
        const domain = tradingDomain(venue);
        const isRight = from === 'vault' ? to === domain : from === domain && to === 'vault';
        if (!isRight) throw wrongField(CODE, 'from', `from and to must be vault and ${domain}, either way`);
        if (venue === 'venue_b' && asset !== CAPABILITIES[venue].settlement_currency) {
          throw wrongField(CODE, 'asset', 'Only money moves to and from venue_b');
        }
        const isMoney = asset === CAPABILITIES[venue].settlement_currency;
        const token = isMoney ? {} : { token: await movableToken(venues, venue, asset) };
        const reply = await cells.told<'transfer'>({
          ...orderCaller(caller, requestId),
          ...{ op: 'transfer', venue, asset, amount, ...token },
          direction: from === 'vault' ? 'from_vault' : 'to_vault',
          client_request_id: clientRequestId ?? opened.newId(),
        });
        return transferRecord(reply.transfer);
      },
    ),
    procedure(
      {
        name: 'funds.transfers',
        kind: 'query',
        access: 'session',
        result: transfersResult,
        statuses: OF_CELL,
        summary: "The caller's transfers, oldest first",
      },
      object({ optional: { transferId: uuidText, after: anyId, limit } }),
      async ({ caller, requestId, input, parts: { cells } }) => {
        const { transferId: transfer_id, after, limit: most = USUAL_LIMIT } = input;
        const request = { ...orderCaller(caller, requestId), ...present({ transfer_id }) };
        const { transfers } = await cells.told<'transfers'>({ ...request, op: 'transfers' });
        const sorted = [...transfers].sort((one, other) => (cursorOf(one) < cursorOf(other) ? -1 : 1));
        const rest = after === undefined ? sorted : sorted.filter((one) => cursorOf(one) > after);
        const shown = rest.slice(0, most);
        const last = shown.at(-1);
        return {
          transfers: shown.map(transferRecord),
          ...(rest.length > most && last !== undefined ? { nextAfter: cursorOf(last) } : {}),
        };
      },
    ),
  ];
}

/** Tokens move under the name that auctions use for them. */
async function movableToken(venues: Venues, venue: VenueId, asset: string): Promise<TransferToken> {
  const market = await venues.asked(() => venues.of(venue).market(asset));
  const side = market?.outcomes.find(({ token_id }) => token_id === asset);
  const vault_asset = market === undefined ? undefined : vaultAsset(market, side);
  if (market === undefined || side === undefined || vault_asset === undefined) {
    throw wrongField(CODE, 'asset', 'Only money and tokens of markets with a contract_id move');
  }
  return { vault_asset, market_id: market.market_id, outcome: side.outcome };
}

function linking(): Procedure {
  return procedure(
    {
      name: 'venues.link',
      kind: 'mutation',
      access: 'session',
      result: linkResult,
      statuses: LINKING,
      summary: 'Open and link an account at a venue',
    },
    object({ required: { exchangeId: exchange } }),
    async ({ caller, requestId, input: { exchangeId }, parts: { venues, opened } }) => {
      if (!venues.has(exchangeId)) throw unregistered();
      if (exchangeId === 'venue_b') {
        throw wrongField(CODE, 'exchangeId', 'venue_b is linked by POST /exchanges/venue_b/enable-trading');
      }
      const account = { venue: exchangeId, request_id: requestId };
      const linkedAt = await linkVenue(opened.executor, caller, account);
      return { exchangeId, tradingLinked: linkedAt !== undefined, ...present({ linkedAt }) };
    },
  );
}

function cursorOf({ created_at, terms }: Transfer): string {
  return `${created_at}/${terms.transfer_id}`;
}

function transferRecord(transfer: Transfer): Record<string, unknown> {
  const { terms, status, created_at, completed_at, reference, failure } = transfer;
  const { transfer_id, venue, asset, amount, direction } = terms;
  const domain = tradingDomain(venue);
  return {
    ...{ transferId: transfer_id, status, exchangeId: venue, asset },
    amount: printMicros(amount),
    ...(direction === 'from_vault' ? { from: 'vault', to: domain } : { from: domain, to: 'vault' }),
    ...present({ reference }),
    createdAt: printTime(created_at),
    ...(completed_at === undefined ? {} : { completedAt: printTime(completed_at) }),
    ...(failure === undefined ? {} : { failure: failureRecord(failure) }),
  };
}
