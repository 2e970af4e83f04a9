import { arrayOf, MISMATCH, nullable, object, type Decoder } from '#libs/edge/decoding/decode.js';
import { enumOf, instant, integer, text } from '#libs/edge/decoding/decode-scalars.js';
import { isAddress } from '#libs/identity/api-keys/source-address.js';

const MOST_ADDRESSES = 50;
const MOST_ORDERS_PER_MINUTE = 10_000;
const LONGEST_OVERLAP_S = 86_400;
/** The last year that every part of the service can store. */
const LAST_YEAR = '9998';

const address: Decoder<string> = {
  decode: (value) => (typeof value === 'string' && isAddress(value) ? value : MISMATCH),
  describe: () => ({ type: 'string', anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] }),
};

const end: Decoder<Date> = {
  decode(value, reading) {
    const read = instant.decode(value, reading);
    if (read === MISMATCH || read.slice(0, LAST_YEAR.length) > LAST_YEAR || read < '1970') return MISMATCH;
    return new Date(read);
  },
  describe: () => instant.describe(),
};

const name = text({ minLength: 1, maxLength: 64, printable: true });
const ip_allow_list = arrayOf(address, { max: MOST_ADDRESSES });
const orders_per_minute = integer(1, MOST_ORDERS_PER_MINUTE);

export const newKeyBody = object({
  required: { name, preset: enumOf(['readonly', 'trading']) },
  optional: { ip_allow_list, expires_at: end, orders_per_minute },
});

/** Null removes a field. An absent field stays unchanged. */
export const keyChangeBody = object({
  optional: {
    name,
    ip_allow_list: nullable(ip_allow_list),
    expires_at: nullable(end),
    orders_per_minute: nullable(orders_per_minute),
  },
});

export const rotationBody = object({ required: { overlap_seconds: integer(0, LONGEST_OVERLAP_S) } });
