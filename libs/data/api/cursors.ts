import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { type Decoder, MISMATCH } from '#libs/edge/decoding/decode.js';
import { base64urlBytes } from '#libs/edge/decoding/query.js';
import { badCursor } from './refusals.js';

const KEY_BYTES = 32;
const MAC_BYTES = 16;

/** The filters that a cursor is valid for. They select the rows; the page size is not one of them. */
export type CursorFilters = Readonly<
  Record<string, string | number | boolean | readonly (string | number)[] | null | undefined>
>;

/**
 * Positions in lists that callers hold and cannot change: JSON with a MAC over it, the route and the filters. All replicas make the
 * same cursors.
 */
export class SealedCursors {
  private readonly key: Buffer;

  /** `secret` is shared by the whole deployment. A key for cursors alone is derived from it. */
  constructor(secret: string) {
    this.key = Buffer.from(hkdfSync('sha256', secret, '', 'market data cursors', KEY_BYTES));
  }

  /** `position` must be small and serializable as JSON. */
  seal(route: string, filters: CursorFilters, position: object): string {
    const content = Buffer.from(JSON.stringify(position), 'utf8');
    return Buffer.concat([this.macOf(route, filters, content), content]).toString('base64url');
  }

  /** Throws 400 for a cursor that was changed, or was made for another route, filter or version. */
  open<T>(route: string, filters: CursorFilters, cursor: string, position: Decoder<T>): T {
    const bytes = base64urlBytes(cursor);
    if (bytes === undefined || bytes.length <= MAC_BYTES) throw badCursor();
    const content = bytes.subarray(MAC_BYTES);
    const mac = this.macOf(route, filters, content);
    if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), mac)) throw badCursor();
    const read = position.decode(JSON.parse(content.toString('utf8')));
    if (read === MISMATCH) throw badCursor();
    return read;
  }

  private macOf(route: string, filters: CursorFilters, content: Buffer): Buffer {
    const bound = JSON.stringify([route, Object.entries(filters).filter(isGiven).sort(byName)]);
    return createHmac('sha256', this.key)
      .update(`${bound}\n`)
      .update(content)
      .digest()
      .subarray(0, MAC_BYTES);
  }
}

function isGiven([, value]: readonly [string, unknown]): boolean {
  return value !== undefined && value !== null;
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1;
}
