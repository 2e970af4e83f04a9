import { arrayOf, type Decoded, type Decoder, MISMATCH, object } from '#libs/edge/decoding/decode.js';
import { atoms, instant, text } from '#libs/edge/decoding/decode-scalars.js';
import { shardId } from '../../stream/stream-limits.js';

export const submitBody = object({
  required: { price_atoms: atoms, quantity_atoms: atoms },
  optional: { min_quantity_atoms: atoms, expires_at: instant, client_reference: text() },
});

const reviseFields = object({
  required: { expected_revision: atoms },
  optional: {
    price_atoms: atoms,
    quantity_atoms: atoms,
    min_quantity_atoms: atoms,
    expires_at: instant,
    client_reference: text(),
  },
});

/** A revision changes at least one of the terms. */
export const reviseBody: Decoder<Decoded<typeof reviseFields>> = {
  decode(value) {
    const body = reviseFields.decode(value);
    return body === MISMATCH || Object.keys(body).length < 2 ? MISMATCH : body;
  },
  describe: () => ({ ...reviseFields.describe(), minProperties: 2 }),
};

export const withdrawBody = object({ optional: { expected_revision: atoms } });

export const withdrawAllBody = object({
  optional: {
    auction_ids: arrayOf(shardId),
    venue: text(),
  },
});

export const quotePreflightBody = object({
  required: { price_atoms: atoms, max_executable_quantity_atoms: atoms },
});
