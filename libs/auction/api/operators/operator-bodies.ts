import type { Haltable, HaltScope } from '../../admission/policy/policy-snapshot.js';
import { arrayOf, MISMATCH, object, type Decoder } from '#libs/edge/decoding/decode.js';
import { enumOf, text } from '#libs/edge/decoding/decode-scalars.js';
import { errorReply } from '#libs/edge/reply/flat-errors.js';
import type { Reply } from '#libs/edge/reply/reply.js';

const SCOPES = ['GLOBAL', 'VENUE', 'MARKET', 'PRINCIPAL'] as const satisfies HaltScope[];
const HALTABLE = ['CREATE', 'QUOTE'] as const satisfies Haltable[];
const MAX_REASON_CHARS = 200;
const INVALID_REQUEST = errorReply(400, 'invalid_request');

const reason = explained(
  text(),
  `Why, 1 to ${MAX_REASON_CHARS} printable characters; stored with the operator.`,
);

export const orderBody = object({ optional: { reason } });
export const voidBody = object({ required: { reason } });
export const haltBody = object({
  required: {
    scope: explained(enumOf(SCOPES), 'What the halt applies to.'),
    what: explained(arrayOf(enumOf(HALTABLE)), 'What is refused: one or both.'),
    reason,
  },
  optional: {
    // PostgreSQL cannot even query a text with a NUL.
    target: explained(
      text({ printable: true }),
      'Venue, contract id or account id, which must exist; not with `GLOBAL`.',
    ),
  },
});

const sensibleReason = text({ minLength: 1, maxLength: MAX_REASON_CHARS, printable: true });

interface Explained {
  readonly reason?: string;
}

interface HaltRequest extends Explained {
  readonly scope: HaltScope;
  readonly what: readonly Haltable[];
  readonly target?: string;
}

/** An empty reason is refused: later readers of the log must find one. */
export function refuseReason({ reason }: Explained): Reply | undefined {
  return reason === undefined || sensibleReason.decode(reason) !== MISMATCH ? undefined : INVALID_REQUEST;
}

/** A global halt has no target, any other halt has one. Whether the target exists is checked in the database. */
export function refuseHalt(request: HaltRequest): Reply | undefined {
  const { scope, what, target } = request;
  const hasRightTarget = (target === undefined) === (scope === 'GLOBAL');
  const hasValidList = what.length > 0 && new Set(what).size === what.length;
  return hasRightTarget && hasValidList ? refuseReason(request) : INVALID_REQUEST;
}

export const UNKNOWN_TARGET: Reply = INVALID_REQUEST;

function explained<T>(kind: Decoder<T>, description: string): Decoder<T> {
  return {
    decode: (value) => kind.decode(value),
    describe: () => ({ ...kind.describe(), description }),
  };
}
