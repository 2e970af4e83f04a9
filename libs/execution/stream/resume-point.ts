import type { ResumePointCodec } from '#libs/socket/resume-token.js';
import { VENUE_IDS, type VenueId } from '../rules/venues.js';

/** How far a subscription has got: all events up to a position of the cell's journal were sent. */
export interface OrderMark {
  readonly number: number;
  /** Undefined for all venues. */
  readonly venues: readonly VenueId[] | undefined;
  readonly position: number;
  readonly seq: number;
  /** False while its snapshot was still being sent. Then it must begin again. */
  readonly isComplete: boolean;
}

/** All that another gateway needs to resume a connection. */
export interface SocketPoint {
  readonly connectionId: string;
  /** If several sockets resume the connection, the one with the highest number is the latest. */
  readonly attachment: number;
  readonly nextNumber: number;
  /** The venues whose events were withheld. */
  readonly denied: readonly VenueId[];
  readonly subscriptions: readonly OrderMark[];
}

const UUID_BYTES = 16;
/** Tokens grow in steps of this many subscriptions. */
const STEP = 8;
const HEAD_BYTES = UUID_BYTES + 8 + 4 + 1 + 2;
const MARK_BYTES = 4 + 1 + 1 + 8 + 8;

/** Numbers have fixed widths, so the length reveals only the number of subscriptions, in steps. */
export const resumePoints: ResumePointCodec<SocketPoint> = { encode, decode };

function encode({ connectionId, attachment, nextNumber, denied, subscriptions }: SocketPoint): Buffer {
  const rooms = Math.ceil(subscriptions.length / STEP) * STEP;
  const bytes = Buffer.alloc(HEAD_BYTES + MARK_BYTES * rooms);
  let at = bytes.write(connectionId.replaceAll('-', ''), 0, UUID_BYTES, 'hex');
  at = bytes.writeDoubleBE(attachment, at);
  at = bytes.writeUInt32BE(nextNumber, at);
  at = bytes.writeUInt8(bitsOf(denied), at);
  at = bytes.writeUInt16BE(subscriptions.length, at);
  for (const { number, venues, position, seq, isComplete } of subscriptions) {
    at = bytes.writeUInt32BE(number, at);
    at = bytes.writeUInt8(venues === undefined ? 0 : bitsOf(venues), at);
    at = bytes.writeUInt8(isComplete ? 1 : 0, at);
    at = bytes.writeDoubleBE(position, at);
    at = bytes.writeDoubleBE(seq, at);
  }
  return bytes;
}

function decode(bytes: Buffer): SocketPoint {
  let at = 0;
  const take = (size: number): number => (at += size) - size;
  const connectionId = readUuid(bytes, take(UUID_BYTES));
  const attachment = bytes.readDoubleBE(take(8));
  const nextNumber = bytes.readUInt32BE(take(4));
  const denied = venuesIn(bytes.readUInt8(take(1)));
  const subscriptions = Array.from({ length: bytes.readUInt16BE(take(2)) }, () => {
    const number = bytes.readUInt32BE(take(4));
    const bits = bytes.readUInt8(take(1));
    const isComplete = bytes.readUInt8(take(1)) === 1;
    const position = bytes.readDoubleBE(take(8));
    const seq = bytes.readDoubleBE(take(8));
    return { number, venues: bits === 0 ? undefined : venuesIn(bits), position, seq, isComplete };
  });
  return { connectionId, attachment, nextNumber, denied, subscriptions };
}

function bitsOf(venues: readonly VenueId[]): number {
  return VENUE_IDS.reduce((bits, venue, index) => (venues.includes(venue) ? bits | (1 << index) : bits), 0);
}

function venuesIn(bits: number): VenueId[] {
  return VENUE_IDS.filter((_, index) => (bits & (1 << index)) !== 0);
}

function readUuid(bytes: Buffer, at: number): string {
  const hex = bytes.toString('hex', at, at + UUID_BYTES);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
