import type { OverStream } from '#libs/edge/endpoint.js';
import type { CallerIdentity, CommandIdentity } from '../protocol/protocol.js';
import { hash } from 'node:crypto';

interface Calling {
  readonly principal: { readonly account_id: string };
  readonly requestId: string;
  readonly overStream?: OverStream;
}

/** The caller, from its token. */
export function callerOf({ principal, requestId }: Calling): CallerIdentity {
  return { account: principal.account_id, request_id: requestId };
}

/** The caller of a command, with the idempotency key and the hash of the content. */
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

/**
 * A hash that ignores the order of fields and white space. A field left out differs from its default given.
 * Journals hold these hashes, so this algorithm must never change.
 */
export function contentHash(content: unknown): string {
  return hash('sha256', canonical(content), 'base64url').slice(0, 22);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  let fields = '';
  for (const name of Object.keys(value).sort()) {
    const field: unknown = Reflect.get(value, name);
    fields += `${fields === '' ? '' : ','}${JSON.stringify(name)}:${canonical(field)}`;
  }
  return `{${fields}}`;
}
