import type { Reply } from '#libs/edge/reply/reply.js';

/** Thrown by a handler to refuse a request. The dialect turns it into the reply. */
export class RefusedRead extends Error {
  override readonly name = 'RefusedRead';

  constructor(readonly reply: Reply) {
    super('refused');
  }
}

/** The body of every refusal, except of the call limit. */
export function refusal(status: number, detail: string, headers?: Reply['headers']): Reply {
  return { status, body: { detail }, ...(headers === undefined ? {} : { headers }) };
}

/** Use it with `throw`: `throw refuse(400, 'end must be after start')`. */
export function refuse(status: number, detail: string): RefusedRead {
  return new RefusedRead(refusal(status, detail));
}

/** `raw`: the name or number as the caller sent it. */
export function unknownProvider(raw: string | number): RefusedRead {
  return refuse(400, unknownProviderDetail(raw));
}

export function unknownProviderDetail(raw: string | number): string {
  return `Unknown provider: ${raw}`;
}

/** Also for a cursor whose snapshot has been deleted. */
export function badCursor(): RefusedRead {
  return refuse(400, 'Invalid or expired cursor');
}
