import { NOTICE_ID, type LinkNotice } from './protocol.js';

/** What one peer is still to be told of the journal's head. Of all that is said meanwhile only the last counts. */
export class NoticeSlot {
  private waiting: LinkNotice | undefined;

  get isFilled(): boolean {
    return this.waiting !== undefined;
  }

  put(notice: LinkNotice): void {
    this.waiting = notice;
  }

  /** As an entry of a frame. */
  take(): string | undefined {
    if (this.waiting === undefined) return undefined;
    const body = JSON.stringify(this.waiting);
    this.waiting = undefined;
    return `[${NOTICE_ID},0,${JSON.stringify(body)}]`;
  }
}

/** Undefined for what is no notice. */
export function readNotice(body: string): LinkNotice | undefined {
  try {
    const notice: unknown = JSON.parse(body);
    return isNotice(notice) ? notice : undefined;
  } catch {
    return undefined;
  }
}

function isNotice(value: unknown): value is LinkNotice {
  return typeof value === 'object' && value !== null && 'head' in value && Number.isSafeInteger(value.head);
}
