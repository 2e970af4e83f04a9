import { NOTICE_ID } from './link-protocol.js';

/**
 * Encodes and merges the notices of one protocol, which a server sends without a request. A notice is encoded once for all
 * peers; `Written` is the encoded form, with the data that `merge` needs.
 */
export interface NoticeFormat<Notice, Written = Notice> {
  write(notice: Notice): Written;
  /** Merges two notices into one, for a peer that has not got the earlier one yet. */
  merge(earlier: Written, later: Written): Written;
  /** The notice for a peer that connects after `latest`. */
  forNewcomer(latest: Notice): Notice;
  /** The body as JSON text, and a second JSON text if one is needed. */
  print(written: Written): readonly [body: string, extra?: string];
  /** Parses a notice. Undefined if it is no notice of this protocol. */
  read(body: string, extra: unknown): Notice | undefined;
}

/** The pending notices of one peer. */
export interface PeerNotices {
  readonly isEmpty: boolean;
  /** Removes the pending notice, and returns it as an entry of a frame. */
  take(): string | undefined;
  leave(): void;
}

/** The source of a server's notices. */
export interface NoticeSource {
  /** Subscribes a peer. Calls `onNews` whenever a notice is pending, perhaps at once. */
  join(onNews: () => void): PeerNotices;
}

/** Sends a server's notices to every peer that listens, and the latest one to a new peer. */
export class NoticeBoard<Notice, Written = Notice> implements NoticeSource {
  private readonly slots = new Set<NoticeSlot<Notice, Written>>();
  private latest: Notice | undefined;

  constructor(private readonly format: NoticeFormat<Notice, Written>) {}

  announce(notice: Notice): void {
    this.latest = notice;
    if (this.slots.size === 0) return;
    const written = this.format.write(notice);
    for (const slot of this.slots) slot.put(written);
  }

  join(onNews: () => void): PeerNotices {
    const slot = new NoticeSlot(this.format, onNews, () => this.slots.delete(slot));
    this.slots.add(slot);
    if (this.latest !== undefined) slot.put(this.format.write(this.format.forNewcomer(this.latest)));
    return slot;
  }
}

class NoticeSlot<Notice, Written> implements PeerNotices {
  private waiting: Written | undefined;

  constructor(
    private readonly format: NoticeFormat<Notice, Written>,
    private readonly onNews: () => void,
    readonly leave: () => void,
  ) {}

  get isEmpty(): boolean {
    return this.waiting === undefined;
  }

  put(written: Written): void {
    this.waiting = this.waiting === undefined ? written : this.format.merge(this.waiting, written);
    this.onNews();
  }

  take(): string | undefined {
    if (this.waiting === undefined) return undefined;
    const [body, extra] = this.format.print(this.waiting);
    this.waiting = undefined;
    return `[${NOTICE_ID},0,${JSON.stringify(body)}${extra === undefined ? '' : `,${extra}`}]`;
  }
}

/** Handles a notice at the client. Returns false if it is invalid. */
export type NoticeReceiver = (body: string, extra: unknown) => boolean;

export function receiveNotices<Notice>(
  format: Pick<NoticeFormat<Notice>, 'read'>,
  receive: (notice: Notice) => void,
): NoticeReceiver {
  return (body, extra) => {
    const notice = format.read(body, extra);
    if (notice === undefined) return false;
    receive(notice);
    return true;
  };
}
