import type { Entitlement } from '../../admission/policy/entitlement.js';
import type { ListedHalt } from '../../admission/policy/halts.js';
import type { OperatorEntry } from '../../admission/policy/operator-actions.js';
import type { Halt } from '../../admission/policy/policy-snapshot.js';
import { atoms, positive, uuid } from '#libs/edge/decoding/decode-scalars.js';
import { named } from '#libs/edge/documents/components.js';
import {
  amount,
  anyText,
  described,
  flag,
  integerFrom,
  listOf,
  moment,
  optional,
  record,
  recordOf,
  type Shape,
  type ShapesOf,
  words,
} from '#libs/edge/documents/shapes.js';
import type { LimitView } from '../account/account-shapes.js';
import type { ShardRow } from './shard-board.js';

const signed: Shape = { describe: () => ({ type: 'integer' }) };

export const shard: Shape = named(
  'Shard',
  recordOf<ShardRow>({
    shard: described(integerFrom(0, 2), 'Its number.'),
    state: words<ShardRow['state']>({
      ACTIVE: 'its owner takes all commands',
      DRAINING: 'its owner takes everything but creates',
      RECOVERING: 'its owner runs but does not serve yet',
      UNREACHABLE: 'its owner does not answer; the row shows what the database knows',
    }),
    epoch: optional(described(positive, 'Counts the owners of the shard over time.')),
    journal_head: optional(described(atoms, 'The last record of its journal.')),
    projection_lag_events: optional(described(atoms, 'Records that the projections do not have yet.')),
    active_auctions: optional(described(atoms, 'Live auctions.')),
    clock_offset_ms: optional(described(signed, "How far the database's clock is ahead of its owner's.")),
    recovery: optional(
      described(
        record({
          events: described(atoms, 'Events that were read.'),
          ms: described(atoms, 'How long it took.'),
        }),
        'The recovery of its owner.',
      ),
    ),
  }),
);

export const shards: Shape = named('Shards', record({ shards: listOf(shard, { min: 3, max: 3 }) }));

const what: Shape = described(
  listOf(
    words<Halt['what'][number]>({ CREATE: 'no auctions are opened', QUOTE: 'no quotes are made or revised' }),
  ),
  'What is refused. Withdrawing and cancelling always work.',
);
const scope: Shape = words<Halt['scope']>({
  GLOBAL: 'everything: `SERVICE_HALTED`',
  VENUE: 'auctions with a route at the venue: `VENUE_HALTED`',
  MARKET: 'auctions with a route of the contract, at any venue: `MARKET_NOT_TRADABLE`',
  PRINCIPAL: 'the account: `PRINCIPAL_SUSPENDED`',
});
const haltTarget: Shape = described(anyText, 'Venue, contract id or account id; absent for `GLOBAL`.');

const haltFields: ShapesOf<Halt> = {
  halt_id: described(uuid, 'The halt.'),
  scope,
  target: optional(haltTarget),
  what,
  reason: described(anyText, 'The reason; only operators see it.'),
  by: described(anyText, 'Account of the operator.'),
  created_at: described(moment, 'Since when it is in force.'),
};

export const halt: Shape = named('Halt', recordOf<Halt>(haltFields));

const listedHalt: Shape = named('ListedHalt', recordOf<ListedHalt>({ ...haltFields, display_name: anyText }));

export const halts: Shape = named(
  'Halts',
  record({ halts: described(listOf(listedHalt), 'Halts in force, oldest first.') }),
);

export const voided: Shape = named(
  'VoidedAuction',
  record({ auction_id: uuid, status: described(anyText, '`VOIDED`.') }),
);

const entry: Shape = named(
  'OperatorEntry',
  recordOf<OperatorEntry>({
    entry: described(positive, 'The number of the entry; it grows.'),
    action_id: described(uuid, 'The same in all entries of one action.'),
    action: words<OperatorEntry['action']>({
      IMPOSE_HALT: 'imposed a halt',
      LIFT_HALT: 'lifted one',
      DRAIN_SHARD: 'drained a shard',
      RESUME_SHARD: 'resumed it',
      VOID_AUCTION: 'voided an auction',
    }),
    by: described(anyText, 'Account of the operator.'),
    display_name: anyText,
    target: described(anyText, "A halt's id, a shard's number, or an auction's id."),
    halt: optional(
      described(record({ scope, target: optional(haltTarget), what }), 'What was imposed or lifted.'),
    ),
    reason: optional(anyText),
    request_id: described(anyText, 'The `X-Request-Id` of the call.'),
    at: described(moment, 'When the entry was written.'),
    outcome: words<OperatorEntry['outcome']>({
      ASKED: 'the owner is about to be asked',
      DONE: 'it was done',
      REFUSED: 'the owner refused',
      UNKNOWN: 'the owner did not answer: it may have been done or not',
    }),
    error: optional(
      described(anyText, 'The code of the refusal, or of the fault that left the outcome unknown.'),
    ),
  }),
);

export const actionPage: Shape = named(
  'OperatorActionPage',
  record({
    actions: described(listOf(entry, { max: 50 }), 'Newest first.'),
    next_cursor: optional(anyText),
  }),
);

const bucket: ShapesOf<Omit<LimitView, 'available'>> = {
  bucket: anyText,
  scope: words<LimitView['scope']>({
    ACCOUNT: 'over all auctions',
    ACCOUNT_AND_AUCTION: 'in each auction separately',
  }),
  rate_per_second: amount,
  burst: amount,
};
const factor = described(positive, 'Every bucket is multiplied by this; 1 in production.');

export const serviceLimits: Shape = named(
  'ServiceLimits',
  record({
    limits_factor: factor,
    buckets: listOf(record({ ...bucket })),
    bounds: described(
      record({
        audience_makers: described(positive, 'Makers invited to one auction.'),
        groups_per_account: described(positive, 'Groups of one originator.'),
        makers_per_group: described(positive, 'Makers in one group.'),
      }),
      'The same for every account.',
    ),
  }),
);

export const accountLimits: Shape = named(
  'AccountLimits',
  record({
    ...entitlementFields(),
    limits_factor: factor,
    buckets: listOf(recordOf<LimitView>({ ...bucket, available: optional(amount) })),
  }),
);

function entitlementFields(): { readonly [K in keyof Entitlement]-?: Shape } {
  return {
    account_id: anyText,
    display_name: anyText,
    suspended: described(flag, 'Suspended accounts neither create nor quote.'),
    may_create: described(flag, 'May open auctions.'),
    may_quote: described(flag, 'May quote.'),
    entitled_venues: listOf(anyText),
    max_quantity_atoms: described(atoms, 'The largest quantity of one trade.'),
    control_group: optional(described(anyText, 'The house; its accounts never meet in an auction.')),
  };
}
