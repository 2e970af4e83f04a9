import { createHash } from 'node:crypto';
import type { VenueId } from '../rules/venues.js';

const NAMESPACE = Buffer.from('168f5e9befaf5a449f0102d68d378cc2', 'hex');
const BYTES = 16;

/**
 * A fill's id: a UUID of version 5 that is the same however often the fill is reported. `leg` is 0 unless the venue
 * reports several fills for one trade and order.
 */
export function fillId(
  venue: VenueId,
  fill: { readonly venue_trade_id: string; readonly exchange_order_id: string; readonly leg?: number },
): string {
  const name = `${venue}/${fill.venue_trade_id}/${fill.exchange_order_id}/${fill.leg ?? 0}`;
  const bytes = createHash('sha1').update(NAMESPACE).update(name, 'utf8').digest().subarray(0, BYTES);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
