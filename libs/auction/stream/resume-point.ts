import type { ResumePointCodec } from '#libs/socket/resume-token.js';

export type Channel = 'auctions' | 'auction';

/**
 * The progress of a subscription. `base` is its `seq` before the journal position in delivery; `sent` counts the
 * events after that.
 */
export interface SubscriptionMark {
  readonly number: number;
  readonly channel: Channel;
  readonly auctionId: string | undefined;
  readonly base: number;
  readonly sent: number;
  /** False until its snapshot and the entries it missed were sent. Then it can only start again. */
  readonly isComplete: boolean;
  /** The auction was over for the account before the subscription began, so no events will come. */
  readonly isOver: boolean;
  /** While it is sent the entries it missed: the last one sent. */
  readonly told: number | undefined;
}

/** All that another gateway needs to resume a connection. */
export interface ResumePoint {
  readonly connectionId: string;
  readonly attachment: number;
  /** By shard, the last journal position up to which everything was sent. */
  readonly positions: readonly number[];
  /** The shard of all events that were sent after these positions without a token of their own; see ResumeCursor. */
  readonly tokenlessShard: number;
  readonly nextNumber: number;
  readonly subscriptions: readonly SubscriptionMark[];
}

/** No tokenless shard: every event after the token has a token of its own. */
export const NO_SHARD = 255;

const UUID_BYTES = 16;
const NO_UUID = '00000000-0000-0000-0000-000000000000';
/** The length of tokens grows in steps of this many subscriptions. */
const STEP = 8;
const HEAD_BYTES = UUID_BYTES + 8 + 1 + 1;
const MARK_BYTES = 4 + 1 + UUID_BYTES + 8 + 4;
const FLAGS = { auction: 1, complete: 2, over: 4, behind: 8 } as const;
const MOST = 2 ** 32 - 1;

/** Numbers have fixed widths, so the length shows only the number of subscriptions, in steps. */
export const resumePoints: ResumePointCodec<ResumePoint> = { encode, decode };

function encode(point: ResumePoint): Buffer {
  const { positions, subscriptions } = point;
  const bytes = Buffer.alloc(sizeOf(positions.length, subscriptions.length));
  let at = writeUuid(bytes, point.connectionId, 0);
  at = bytes.writeDoubleBE(point.attachment, at);
  at = bytes.writeUInt8(point.tokenlessShard, at);
  at = bytes.writeUInt8(positions.length, at);
  for (const position of positions) at = bytes.writeDoubleBE(position, at);
  at = bytes.writeUInt32BE(point.nextNumber, at);
  at = bytes.writeUInt16BE(subscriptions.length, at);
  for (const mark of subscriptions) {
    at = bytes.writeUInt32BE(mark.number, at);
    at = bytes.writeUInt8(flagsOf(mark), at);
    at = writeUuid(bytes, mark.auctionId ?? NO_UUID, at);
    at = bytes.writeDoubleBE(mark.base, at);
    // A subscription that is still sent earlier entries has no events after `base`, so one field holds either
    // number.
    at = bytes.writeUInt32BE(Math.min(mark.told ?? mark.sent, MOST), at);
  }
  return bytes;
}

function sizeOf(positions: number, subscriptions: number): number {
  const padded = Math.ceil(subscriptions / STEP) * STEP;
  return HEAD_BYTES + 8 * positions + 4 + 2 + MARK_BYTES * padded;
}

function decode(bytes: Buffer): ResumePoint {
  let at = 0;
  const take = (size: number): number => (at += size) - size;
  const connectionId = readUuid(bytes, take(UUID_BYTES));
  const attachment = bytes.readDoubleBE(take(8));
  const tokenlessShard = bytes.readUInt8(take(1));
  const positions = Array.from({ length: bytes.readUInt8(take(1)) }, () => bytes.readDoubleBE(take(8)));
  const nextNumber = bytes.readUInt32BE(take(4));
  const subscriptions = Array.from({ length: bytes.readUInt16BE(take(2)) }, () =>
    readMark(bytes, take(MARK_BYTES)),
  );
  return { connectionId, attachment, tokenlessShard, positions, nextNumber, subscriptions };
}

function readMark(bytes: Buffer, at: number): SubscriptionMark {
  const flags = bytes.readUInt8(at + 4);
  const isAuction = (flags & FLAGS.auction) !== 0;
  const isCatchingUp = (flags & FLAGS.behind) !== 0;
  const afterId = at + 5 + UUID_BYTES;
  const count = bytes.readUInt32BE(afterId + 8);
  return {
    number: bytes.readUInt32BE(at),
    channel: isAuction ? 'auction' : 'auctions',
    auctionId: isAuction ? readUuid(bytes, at + 5) : undefined,
    base: bytes.readDoubleBE(afterId),
    sent: isCatchingUp ? 0 : count,
    told: isCatchingUp ? count : undefined,
    isComplete: (flags & FLAGS.complete) !== 0,
    isOver: (flags & FLAGS.over) !== 0,
  };
}

function flagsOf({ channel, isComplete, isOver, told }: SubscriptionMark): number {
  return (
    (channel === 'auction' ? FLAGS.auction : 0) |
    (isComplete ? FLAGS.complete : 0) |
    (isOver ? FLAGS.over : 0) |
    (told === undefined ? 0 : FLAGS.behind)
  );
}

function writeUuid(bytes: Buffer, uuid: string, at: number): number {
  return at + bytes.write(uuid.replaceAll('-', ''), at, UUID_BYTES, 'hex');
}

function readUuid(bytes: Buffer, at: number): string {
  const hex = bytes.toString('hex', at, at + UUID_BYTES);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
