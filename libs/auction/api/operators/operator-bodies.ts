import type { Haltable, HaltScope } from '../../admission/policy/policy-snapshot.js';
import { arrayOf, MISMATCH, object, type Decoder } from '#libs/edge/decoding/decode.js';
import { enumOf, text } from '#libs/edge/decoding/decode-scalars.js';
import { errorReply } from '#libs/edge/reply/flat-errors.js';
import type { Reply } from '#libs/edge/reply/reply.js';

const SCOPES = ['GLOBAL', 'VENUE', 'MARKET', 'PRINCIPAL'] as const satisfies HaltScope[];
const HALTABLE = ['CREATE', 'QUOTE'] as const satisfies Haltable[];
const MAX_REASON_CHARS = 200;
const INVALID_REQUEST = errorReply(400, 'invalid_request');

const reason = explained(text(), `Why, 1 to ${MAX_REASON_CHARS} printable characters; kept with who did it.`);

export const orderBody = object({ optional: { reason } });
export const voidBody = object({ required: { reason } });
export const haltBody = object({
  required: {
    scope: explained(enumOf(SCOPES), 'What the halt hits.'),
    what: explained(arrayOf(enumOf(HALTABLE)), 'What is refused: one of them or both.'),
    reason,
  },
  optional: {
    // The database cannot even be asked for what holds a NUL.
    target: explained(
      text({ printable: true }),
      'Venue, contract id or account id, which must be there; not with `GLOBAL`.',
    ),
  },
});

const sensibleReason = text({ minLength: 1, maxLength: MAX_REASON_CHARS, printable: true });

interface Explained {
  readonly reason?: string;
}

interface AskedHalt extends Explained {
  readonly scope: HaltScope;
  readonly what: readonly Haltable[];
  readonly target?: string;
}

/** Who reads the book later must find something there: an empty reason is none. */
export function refuseReason({ reason }: Explained): Reply | undefined {
  return reason === undefined || sensibleReason.decode(reason) !== MISMATCH ? undefined : INVALID_REQUEST;
}

/** Everything is halted without a target, and anything else has one. Whether it is there only the books can tell. */
export function refuseHalt(asked: AskedHalt): Reply | undefined {
  const { scope, what, target } = asked;
  const aimed = (target === undefined) === (scope === 'GLOBAL');
  const listed = what.length > 0 && new Set(what).size === what.length;
  return aimed && listed ? refuseReason(asked) : INVALID_REQUEST;
}

export const UNKNOWN_TARGET: Reply = INVALID_REQUEST;

function explained<T>(kind: Decoder<T>, description: string): Decoder<T> {
  return {
    decode: (value) => kind.decode(value),
    describe: () => ({ ...kind.describe(), description }),
  };
}
