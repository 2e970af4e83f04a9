import { arrayOf, object } from '#libs/edge/decoding/decode.js';
import { atoms, enumOf, instant, literalTrue, text, uuid } from '#libs/edge/decoding/decode-scalars.js';

const route = object({
  required: {
    venue: text(),
    contract_id: text(),
    outcome: text(),
  },
});

const audience = object({
  optional: {
    market_maker_ids: arrayOf(uuid),
    group_ids: arrayOf(uuid),
    all_eligible: literalTrue,
    exclude_market_maker_ids: arrayOf(uuid),
  },
});

const identityPolicy = object({
  optional: {
    originator: enumOf(['ANONYMOUS', 'DISCLOSED', 'WINNER_ONLY']),
    market_makers: enumOf(['ANONYMOUS', 'DISCLOSED_AFTER_AWARD']),
  },
});

/** Checks types only. The rules of auctions judge the values. */
export const createBody = object({
  required: {
    side: enumOf(['BUY', 'SELL']),
    quantity_atoms: atoms,
    routes: arrayOf(route),
    audience,
  },
  optional: {
    limit_price_atoms: atoms,
    min_fill_quantity_atoms: atoms,
    allocation: enumOf(['SINGLE_WINNER', 'SPLIT']),
    max_winners: atoms,
    duration_ms: atoms,
    closes_at: instant,
    quote_revision_policy: enumOf(['FREE', 'IMPROVE_ONLY', 'FINAL']),
    identity_policy: identityPolicy,
    result_disclosure: enumOf(['OWN_RESULT', 'WINNING_PRICE', 'WINNING_PRICE_AND_RANK']),
    execution_deadline_ms: atoms,
    client_reference: text(),
  },
});

export const cancelBody = object({
  optional: { reason: text() },
});
