import type { Reply } from '#libs/edge/reply/reply.js';

/** What a handler refuses. It is thrown: the dialect makes its reply of it. */
export class RefusedRead extends Error {
  override readonly name = 'RefusedRead';

  constructor(readonly reply: Reply) {
    super('refused');
  }
}

/** The envelope of every refusal but those of limits. */
export function refusal(status: number, detail: string, headers?: Reply['headers']): Reply {
  return { status, body: { detail }, ...(headers === undefined ? {} : { headers }) };
}

/** To be thrown: `throw refuse(400, 'end must be after start')`. */
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

/** Also for cursors whose page is no longer kept. */
export function badCursor(): RefusedRead {
  return refuse(400, 'Invalid or expired cursor');
}
