import type { Cash } from '../../matching/accounts.js';
import type { VenueFill, VenueRefusal, VenueReply } from '../../venue/terms.js';
import type { PracticeVenuePort } from '../../venue/venue-reads.js';
import type { VenueAnswer } from '../venue-shell.js';
import {
  actionSigner,
  readAction,
  type ActionOf,
  type ReceivedAction,
  type ReceivedOrder,
} from './actions.js';
import { decimal, micros } from './decimals.js';
import { COLLATERAL, sideOfAsset, sideOfCoin } from './markets.js';
import { sendName } from './records.js';

const DAY_MS = 86_400_000;
/** How far a nonce may be before the venue's clock, and after it. */
const OLDEST_NONCE_MS = 2 * DAY_MS;
const NEWEST_NONCE_MS = DAY_MS;

const UNREADABLE: VenueAnswer = {
  status: 422,
  body: 'Failed to deserialize the JSON body into the target type',
};
const NEVER_PLACED = 'Order was never placed, already canceled, or filled.';

/** Refusal texts of the venue. Where none are published, the texts are ours. */
const REFUSALS: Readonly<Partial<Record<VenueRefusal, string>>> = {
  'unknown-market': 'Order has an invalid asset.',
  'not-open': 'Trading is halted.',
  'off-grid': 'Price must be divisible by tick size.',
  'bad-size': 'Order has invalid size.',
  'no-cash': 'Order has insufficient spot balance to trade',
  'no-shares': 'Order has insufficient spot balance to trade',
  'would-cross': 'Post only order would have immediately matched.',
  'duplicate-client-id': 'Order with this cloid exists.',
};
const NO_MATCH = 'Order could not immediately match against any resting orders.';
const OWN_ORDER = 'Order would have matched an order of its own account.';

/** Orders are signed by the account or its authorized agent. Only the account may sign authorizations and sends. */
export class EExchange {
  private lastId = 0;

  constructor(private readonly venue: PracticeVenuePort) {}

  async handle(body: string): Promise<VenueAnswer> {
    const request = readAction(body);
    if (request === undefined) return UNREADABLE;
    const signer = actionSigner(request);
    if (signer === undefined) return failed('L1 error: the signature is not valid');
    const refusal = this.refusalOf(request, signer);
    if (refusal !== undefined) return failed(refusal);
    const { action, nonce } = request;
    switch (action.type) {
      case 'approveAgent':
        return this.approve(signer, action);
      case 'usdSend':
        return this.send(signer, { ...action, token: COLLATERAL.coin });
      case 'spotSend':
        return this.send(signer, action);
      case 'order':
      case 'cancel':
      case 'cancelByCloid':
        return this.trade(signer, action, nonce);
    }
  }

  private refusalOf({ action, nonce, expiresAfter }: ReceivedAction, signer: string): string | undefined {
    const now = this.venue.now();
    const at = 'time' in action ? action.time : 'nonce' in action ? action.nonce : nonce;
    if (at !== nonce) return 'Invalid nonce: it is not that of the action';
    if (nonce < now - OLDEST_NONCE_MS || nonce > now + NEWEST_NONCE_MS) return `Invalid nonce: ${nonce}`;
    if (expiresAfter !== undefined && expiresAfter !== null && now > expiresAfter) {
      return `Action expired: ${expiresAfter}`;
    }
    return this.venue.reads.isDone(onceOf(signer, nonce)) ? duplicateNonce(nonce) : undefined;
  }

  private async approve(account: string, action: ActionOf<'approveAgent'>): Promise<VenueAnswer> {
    const { agentAddress: agent, agentName: name, nonce } = action;
    const owner = this.venue.reads.accountWithKey(agent);
    if (owner === account) return done('default');
    if (owner !== undefined || this.venue.reads.hasAccount(agent)) return failed('Extra agent already used.');
    const reply = await this.venue.ask({
      ...{ do: 'open', account, keys: { [agent]: name ?? '' } },
      once: onceOf(account, nonce),
    });
    return reply.ok ? done('default') : failed(duplicateNonce(nonce));
  }

  private async send(
    from: string,
    action: {
      readonly destination: string;
      readonly token: string;
      readonly amount: string;
      readonly time: number;
    },
  ): Promise<VenueAnswer> {
    const { destination, token, time } = action;
    const amount = micros(action.amount);
    const isMoney = token.split(':')[0] === COLLATERAL.coin;
    const side = isMoney ? undefined : sideOfCoin(token);
    if (amount === undefined || amount === 0 || (!isMoney && side === undefined))
      return failed('Invalid send.');
    const reply = await this.venue.ask({
      ...{ do: 'transfer', movement_id: sendName(from, time), from, to: destination, amount: String(amount) },
      ...(side === undefined ? {} : { shares: side }),
      once: onceOf(from, time),
    });
    if (reply.ok) return done('default');
    return failed(
      reply.refusal === 'known' ? duplicateNonce(time) : 'Insufficient balance for token transfer',
    );
  }

  private async trade(
    signer: string,
    action: ActionOf<'order' | 'cancel' | 'cancelByCloid'>,
    nonce: number,
  ): Promise<VenueAnswer> {
    const account = this.accountOf(signer);
    if (account === undefined) return failed(`User or API Wallet ${signer} does not exist.`);
    const once = onceOf(signer, nonce);
    // The nonce is used up first, so that the same bytes cannot be executed twice.
    if (this.venue.reads.isDone(once)) return failed(duplicateNonce(nonce));
    const taken = this.venue.ask({ do: 'open', account, keys: {}, once });
    const statuses: unknown[] = [];
    if (action.type === 'order')
      for (const order of action.orders) statuses.push(await this.place(account, order));
    if (action.type === 'cancel')
      for (const { o: oid } of action.cancels) statuses.push(await this.cancel(account, String(oid)));
    if (action.type === 'cancelByCloid') {
      for (const { cloid } of action.cancels) {
        const order = this.venue.reads.orderByClientId(account, cloid);
        statuses.push(await this.cancel(account, order?.order_id));
      }
    }
    await taken;
    const type = action.type === 'order' ? 'order' : 'cancel';
    return { status: 200, body: { status: 'ok', response: { type, data: { statuses } } } };
  }

  private accountOf(signer: string): string | undefined {
    const { reads } = this.venue;
    return reads.accountWithKey(signer) ?? (reads.hasAccount(signer) ? signer : undefined);
  }

  private async place(account: string, order: ReceivedOrder): Promise<unknown> {
    const side = sideOfAsset(order.a);
    if (side === undefined) return { error: REFUSALS['unknown-market'] };
    const price = micros(order.p);
    const size = micros(order.s);
    if (price === undefined) return { error: REFUSALS['off-grid'] };
    if (size === undefined) return { error: REFUSALS['bad-size'] };
    const { tif } = order.t.limit;
    const oid = this.newOid();
    const reply = await this.venue.ask({
      do: 'place',
      order: {
        ...{ order_id: String(oid), account, ...side, side: order.b ? 'buy' : 'sell', price, size },
        lifetime: tif === 'Gtc' || tif === 'Alo' ? 'rest' : 'immediate',
        ...(tif === 'Alo' ? { post_only: true } : {}),
        ...(order.c === undefined ? {} : { client_id: order.c }),
      },
    });
    return placedStatus(reply, oid, order.c);
  }

  private async cancel(account: string, orderId: string | undefined): Promise<unknown> {
    const order = orderId === undefined ? undefined : this.venue.reads.order(orderId);
    if (order?.account !== account) return { error: NEVER_PLACED };
    const reply = await this.venue.ask({ do: 'cancel', order_id: order.order_id, why: 'user' });
    return reply.ok ? 'success' : { error: NEVER_PLACED };
  }

  /** Ids rise with time, also across restarts. */
  private newOid(): number {
    this.lastId = Math.max(this.lastId + 1, this.venue.now() * 1_000);
    return this.lastId;
  }
}

function placedStatus(reply: VenueReply, oid: number, cloid: string | undefined): unknown {
  if (!reply.ok) return { error: REFUSALS[reply.refusal] ?? 'Order was rejected.' };
  const named = { oid, ...(cloid === undefined ? {} : { cloid }) };
  const { order, fills = [] } = reply;
  if (order?.status === 'resting') return { resting: named };
  if (fills.length > 0) return { filled: { ...totalOf(fills), ...named } };
  return { error: order?.cause === 'own-order' ? OWN_ORDER : NO_MATCH };
}

function totalOf(fills: readonly VenueFill[]): { readonly totalSz: string; readonly avgPx: string } {
  let [size, value]: [bigint, Cash] = [0n, 0n];
  for (const fill of fills) {
    size += BigInt(fill.size);
    value += BigInt(fill.price) * BigInt(fill.size);
  }
  return { totalSz: decimal(size), avgPx: decimal(value / size) };
}

function onceOf(signer: string, nonce: number): string {
  return `nonce/${signer}/${nonce}`;
}

function duplicateNonce(nonce: number): string {
  return `Invalid nonce: duplicate nonce ${nonce}`;
}

function done(type: string): VenueAnswer {
  return { status: 200, body: { status: 'ok', response: { type } } };
}

function failed(response: string): VenueAnswer {
  return { status: 200, body: { status: 'err', response } };
}
