import { MISMATCH, type Decoder } from '#libs/edge/decoding/decode.js';
import { NumberToken } from '#libs/edge/decoding/json-scan.js';
import { parseDecimal } from '#libs/base/decimals.js';
import { text } from '#libs/edge/decoding/decode-scalars.js';
import { venueNamed } from '../../rules/venues.js';
import type { VenueId } from '../../rules/venues.js';
import { isUuidText } from '../params.js';

const MOST = 500;
const PLACES = 6;

export const USUAL_LIMIT = 100;
export const anyId = text({ minLength: 1, maxLength: 256, printable: true });
export const why = text({ minLength: 1, maxLength: 1_024, printable: true });

/** A venue id. The procedure refuses venues that are not registered. */
export const exchange: Decoder<VenueId> = {
  decode: (value) => (typeof value === 'string' ? (venueNamed(value)?.venue ?? MISMATCH) : MISMATCH),
  describe: () => ({ type: 'string' }),
};

export const limit: Decoder<number> = {
  decode(value) {
    const exact = value instanceof NumberToken ? parseDecimal(value.text, 0) : undefined;
    return exact !== undefined && exact.units >= 1n && exact.units <= BigInt(MOST)
      ? Number(exact.units)
      : MISMATCH;
  },
  describe: () => ({ type: 'integer', minimum: 1, maximum: MOST, default: USUAL_LIMIT }),
};

export const wholePositive: Decoder<number> = {
  decode(value) {
    const exact = value instanceof NumberToken ? parseDecimal(value.text, 0) : undefined;
    return exact !== undefined && exact.units >= 1n && exact.units <= 10_000n
      ? Number(exact.units)
      : MISMATCH;
  },
  describe: () => ({ type: 'integer', minimum: 1, maximum: 10_000 }),
};

/** A UUID in upper or lower case. The decoded value is in lower case. */
export const uuidText: Decoder<string> = {
  decode: (value) => (typeof value === 'string' && isUuidText(value) ? value.toLowerCase() : MISMATCH),
  describe: () => ({ type: 'string', format: 'uuid' }),
};

const AMOUNT = /^(?:0|[1-9]\d{0,17})(?:\.\d{1,6})?$/;

/** An exact decimal string above zero. */
export const amountText: Decoder<bigint> = {
  decode(value) {
    const exact = typeof value === 'string' && AMOUNT.test(value) ? parseDecimal(value, PLACES) : undefined;
    return exact !== undefined && exact.units > 0n ? exact.units : MISMATCH;
  },
  describe: () => ({ type: 'string', pattern: AMOUNT.source }),
};

/** True, false, or null for unknown. */
export const verdict: Decoder<{ readonly enabled: boolean | null }> = {
  decode: (value) =>
    typeof value === 'boolean' ? { enabled: value } : value === null ? { enabled: null } : MISMATCH,
  describe: () => ({ type: ['boolean', 'null'] }),
  takesNull: true,
};
