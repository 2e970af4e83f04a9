import type { OverStream } from '#libs/edge/endpoint.js';
import type { CallerIdentity, CommandIdentity } from '../protocol/protocol.js';
import { contentHash } from './content-hash.js';

interface Calling {
  readonly principal: { readonly account_id: string };
  readonly requestId: string;
  readonly overStream?: OverStream;
}

/** Who asks, as its token says. */
export function callerOf({ principal, requestId }: Calling): CallerIdentity {
  return { account: principal.account_id, request_id: requestId };
}

/** A command besides: by what its caller calls it, and what it says. */
export function commandOf(
  call: Calling & { readonly idempotencyKey: string },
  content: unknown,
): CallerIdentity & CommandIdentity {
  const notAfter = call.overStream?.notAfter;
  return {
    ...callerOf(call),
    key: call.idempotencyKey,
    content: contentHash(content),
    ...(notAfter === undefined ? {} : { not_after: notAfter }),
  };
}
