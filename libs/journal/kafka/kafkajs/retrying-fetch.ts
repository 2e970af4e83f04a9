import { pause, type Clock } from '#libs/platform/time/clock.js';
import { MessagesDamaged, type LogMessage } from '../topic-log.js';

/** One reply of a leader: messages, or none at the end; or a reason to suspect damage to its log. */
export type Look = { readonly messages: readonly LogMessage[] } | { readonly doubt: string };

/** How many contradictory replies in a row count as damage. */
const LOOKS = 4;
const LOOK_AGAIN_MILLIS = 400;

/**
 * Tells damage from a broker in trouble. A reply is suspect if it claims messages and returns none, because a leader returns a whole
 * batch, however large. A leader that is away, slow or late fails or names an earlier end. See docs/decisions/08.
 */
export class RetryingFetch {
  /** Once damage was found, one suspect reply is enough. */
  private damagedAt: number | undefined;

  constructor(private readonly clock: Clock) {}

  async messages(offset: number, look: () => Promise<Look>): Promise<readonly LogMessage[]> {
    for (let looks = 1; ; looks += 1) {
      const found = await look();
      if ('messages' in found) {
        if (this.damagedAt === offset) this.damagedAt = undefined;
        return found.messages;
      }
      if (looks === LOOKS || this.damagedAt === offset) {
        this.damagedAt = offset;
        throw new MessagesDamaged(`offset ${offset} of its topic cannot be read: ${found.doubt}`);
      }
      await pause(this.clock, LOOK_AGAIN_MILLIS);
    }
  }
}
