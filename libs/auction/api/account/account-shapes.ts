import type { ContractFacts } from '../../rules/commands.js';
import type { ListedMaker } from '../../admission/policy/principals.js';
import type { ProtectionSettings } from '../../admission/policy/maker-protection.js';
import { positive, uuid } from '#libs/edge/decoding/decode-scalars.js';
import { named } from '#libs/edge/documents/components.js';
import {
  amount,
  anyText,
  integerFrom,
  listOf,
  moment,
  nothing,
  oneOf,
  optional,
  record,
  recordOf,
  type Shape,
  words,
} from '#libs/edge/documents/shapes.js';
import type { Capability, Role } from '../../protocol/enrolment.js';
import { ACCOUNT_LIMITS, QUOTE_PER_AUCTION_LIMIT } from '#libs/auction/protocol/protocol.js';

export const me: Shape = named(
  'Me',
  record({
    account_id: uuid,
    display_name: anyText,
    roles: listOf(
      words<Role>({
        ORIGINATOR: 'opens auctions',
        MARKET_MAKER: 'quotes in auctions it is invited to',
        OPERATOR: 'runs the service',
        AUDITOR: 'reads completed auctions under pseudonyms',
        VIEWER: 'reads its own data',
      }),
    ),
    capabilities: listOf(
      words<Capability>({
        'auction:create': 'create, cancel and the originator preflight may be called',
        'auction:quote': 'quote calls and the quote preflight may be called',
      }),
    ),
    entitled_venues: listOf(anyText),
  }),
);

export const limits: Shape = named(
  'Limits',
  record({
    buckets: listOf(
      recordOf<LimitView>({
        bucket: words({
          create: 'create',
          cancel: 'cancel',
          quote: 'submit and revise',
          withdraw: 'withdraw, and withdraw-all, which counts as one',
          quote_per_auction: 'submit and revise in one auction',
        }),
        scope: words<LimitView['scope']>({
          ACCOUNT: 'over all auctions',
          ACCOUNT_AND_AUCTION: 'in each auction separately',
        }),
        rate_per_second: amount,
        burst: amount,
        available: optional(amount),
      }),
    ),
  }),
);

const protectionSettings = named(
  'Protection',
  recordOf<ProtectionSettings>({
    window_ms: integerFrom(1, 86_400_000),
    max_awards: integerFrom(1, 1_000_000),
    max_award_notional_atoms: positive,
    frozen_ms: integerFrom(1, 86_400_000),
  }),
);

export const protectionOrNone: Shape = oneOf([protectionSettings, nothing]);

export const makers: Shape = named(
  'MarketMakers',
  record({
    market_makers: listOf(
      recordOf<ListedMaker>({ market_maker_id: uuid, display_name: anyText, venues: listOf(anyText) }),
    ),
  }),
);

export const group: Shape = named(
  'Group',
  record({ group_id: uuid, name: anyText, market_maker_ids: listOf(uuid, { max: 256 }) }),
);
export const groups: Shape = named('Groups', record({ groups: listOf(group, { max: 100 }) }));

export const contractPage: Shape = named(
  'ContractPage',
  record({
    contracts: listOf(
      recordOf<ContractFacts>({
        venue: anyText,
        contract_id: anyText,
        outcome: anyText,
        title: anyText,
        equivalence_id: anyText,
        price_tick_atoms: positive,
        quantity_step_atoms: positive,
        status: words<ContractFacts['status']>({
          TRADING: 'auctions may be opened',
          PAUSED: 'not at present',
          CLOSED: 'never again',
        }),
        closes_at: moment,
      }),
      { max: 50 },
    ),
    next_cursor: optional(anyText),
  }),
);

export interface LimitView {
  readonly bucket: string;
  readonly scope: 'ACCOUNT' | 'ACCOUNT_AND_AUCTION';
  readonly rate_per_second: number;
  readonly burst: number;
  readonly available?: number;
}

export function accountLimits(available: Readonly<Record<string, number>>, factor: number): LimitView[] {
  const ofAccount = Object.entries(ACCOUNT_LIMITS).map(([bucket, limit]): LimitView => ({
    bucket,
    scope: 'ACCOUNT',
    rate_per_second: limit.rate_per_second * factor,
    burst: limit.burst * factor,
    available: available[bucket] ?? 0,
  }));
  const perAuction: LimitView = {
    bucket: 'quote_per_auction',
    scope: 'ACCOUNT_AND_AUCTION',
    rate_per_second: QUOTE_PER_AUCTION_LIMIT.rate_per_second * factor,
    burst: QUOTE_PER_AUCTION_LIMIT.burst * factor,
  };
  return [...ofAccount, perAuction];
}
