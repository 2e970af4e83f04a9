import type { AuditEvent, AuditTerms, AuditView } from '../../rules/audit/audit.js';
import type { RankingReason, RankingRow } from '../../rules/audit/audit-ranking.js';
import type { Attestation, ReplayBundle, ReplayRecord } from '../../rules/replay/bundle.js';
import type { AuctionStatus } from '../../rules/state.js';
import type {
  Allocation,
  Grid,
  IdentityPolicy,
  QuoteRevisionPolicy,
  ResultDisclosure,
  Route,
  Side,
} from '../../rules/terms.js';
import { atoms, positive, uuid } from '#libs/edge/decoding/decode-scalars.js';
import { named } from '#libs/edge/documents/components.js';
import {
  anyText,
  constant,
  described,
  integerFrom,
  listOf,
  moment,
  optional,
  record,
  recordOf,
  words,
  type Shape,
} from '#libs/edge/documents/shapes.js';
import type { AuditRow } from '../../projections/audit/audit-reader.js';

type CompletedOnly = Exclude<AuctionStatus, 'OPEN' | 'CLOSED' | 'AWARDED' | 'EXECUTING'>;

const pseudonym: Shape = {
  describe: () => ({
    type: 'string',
    pattern: '^P-[A-HJ-NP-Z2-9]{16}$',
    description: 'an account, under a name that it has only in this auction',
  }),
};
const digest: Shape = { describe: () => ({ type: 'string', pattern: '^[0-9a-f]{64}$' }) };
const anyObject: Shape = { describe: () => ({ type: 'object' }) };

const status = named(
  'CompletedStatus',
  words<CompletedOnly>({
    SETTLED: 'every award was executed',
    PARTIALLY_SETTLED: 'some awards were executed, some failed',
    EXECUTION_FAILED: 'no award could be executed',
    NO_AWARD: 'no quote won',
    CANCELLED: 'its originator cancelled it',
    VOIDED: 'an operator or the end of a market ended it',
  }),
);

export const auditPage: Shape = named(
  'AuditPage',
  record({
    auctions: listOf(
      named(
        'AuditRow',
        recordOf<AuditRow>({ auction_id: uuid, status, opened_at: moment, completed_at: moment }),
      ),
    ),
    next_cursor: optional(anyText),
  }),
);

const terms = named(
  'AuditTerms',
  recordOf<AuditTerms>({
    auction_id: uuid,
    rule_version: integerFrom(1),
    originator: pseudonym,
    side: words<Side>({ BUY: 'the originator buys', SELL: 'the originator sells' }),
    quantity_atoms: positive,
    routes: listOf(
      recordOf<Route>({ venue: anyText, contract_id: anyText, outcome: anyText, title: anyText }),
    ),
    grid: recordOf<Grid>({
      price_tick_atoms: positive,
      min_price_atoms: positive,
      max_price_atoms: positive,
      quantity_step_atoms: positive,
    }),
    limit_price_atoms: optional(positive),
    min_fill_quantity_atoms: positive,
    allocation: words<Allocation>({
      SINGLE_WINNER: 'one quote takes all of its quantity',
      SPLIT: 'a ladder of winners',
    }),
    max_winners: integerFrom(1),
    opened_at: moment,
    closes_at: moment,
    quote_revision_policy: words<QuoteRevisionPolicy>({
      FREE: 'quotes may change and be withdrawn',
      IMPROVE_ONLY: 'quotes may only get better',
      FINAL: 'quotes may not be changed or withdrawn',
    }),
    audience: listOf(pseudonym),
    identity_policy: recordOf<IdentityPolicy>({ originator: anyText, market_makers: anyText }),
    result_disclosure: words<ResultDisclosure>({
      OWN_RESULT: 'losers learn their own result',
      WINNING_PRICE: 'and the winning price',
      WINNING_PRICE_AND_RANK: 'and their rank',
    }),
    execution_deadline_ms: positive,
  }),
);

const eventFields = {
  position: integerFrom(1),
  type: anyText,
  version: integerFrom(1),
  occurred_at: moment,
  data: described(anyObject, 'as in the journal, under pseudonyms'),
  hash: described(digest, "a commitment to the journal's own record, under a key of this auction"),
};

const ranking = listOf(
  named(
    'RankingRow',
    recordOf<RankingRow>({
      quote_id: uuid,
      market_maker: pseudonym,
      price_atoms: positive,
      quantity_atoms: positive,
      rank: optional(integerFrom(1)),
      awarded_quantity_atoms: atoms,
      reason: words<RankingReason>({
        AWARDED: 'won its whole quantity',
        PARTIALLY_AWARDED: 'won what was left',
        RESERVE_NOT_MET: "worse than the originator's limit",
        MINIMUM_NOT_MET: "no quote won: together they stayed below the auction's minimum fill",
        BELOW_MINIMUM_FILL: 'alone too small for the minimum fill',
        OUTRANKED: 'better quotes took the whole quantity',
        QUOTE_MINIMUM_NOT_MET: 'the remaining quantity was below its own minimum',
        MAX_WINNERS_REACHED: 'the maximum number of winners was reached',
      }),
    }),
  ),
);

export const auditedAuction: Shape = named(
  'AuditedAuction',
  recordOf<AuditView>({
    auction_id: uuid,
    status,
    rule_version: integerFrom(1),
    terms,
    events: listOf(named('AuditEvent', recordOf<AuditEvent>(eventFields))),
    ranking,
  }),
);

export const replayBundle: Shape = named(
  'ReplayBundle',
  recordOf<ReplayBundle>({
    format: constant('sotto-replay-bundle'),
    version: constant(1),
    auction_id: uuid,
    rule_version: integerFrom(1),
    terms,
    status,
    ranking,
    record_count: integerFrom(1),
    head: described(digest, '`digest` of the last record'),
    attestation: recordOf<Attestation>({
      algorithm: constant('Ed25519'),
      key_id: described(digest, 'thumbprint of the public key'),
      public_key: described(anyText, '`x` of the public key'),
      signature: described(anyText, 'over everything but the records, which `head` covers'),
    }),
    records: listOf(
      named(
        'ReplayRecord',
        recordOf<ReplayRecord>({
          ...eventFields,
          number: described(integerFrom(1), 'counts from 1 without gaps'),
          shard: integerFrom(0, 2),
          epoch: integerFrom(1),
          previous: described(digest, '`digest` of the record before; for the first record, of the heading'),
          digest: described(digest, 'over all other fields of the record'),
        }),
      ),
    ),
  }),
);

export const auditKeys: Shape = named(
  'AuditKeys',
  record({
    keys: listOf(
      record({
        kty: constant('OKP'),
        crv: constant('Ed25519'),
        alg: constant('EdDSA'),
        use: constant('sig'),
        kid: digest,
        x: anyText,
      }),
    ),
  }),
);
