import { pause, type Clock } from '#libs/platform/time/clock.js';
import { MessagesDamaged, type LogMessage } from '../topic-log.js';

/** What one answer of a leader comes to: messages, or none behind the end; or what speaks for damage of its log. */
export type Look = { readonly messages: readonly LogMessage[] } | { readonly doubt: string };

/** How often a leader has to contradict itself, one time after the other. */
const LOOKS = 4;
const LOOK_AGAIN_MILLIS = 400;

/**
 * Tells damage from a broker that is not well just now. A look is in doubt where one and the same answer says that there are messages and
 * gives none: a leader gives a whole batch, however large. One that is away, slow or behind fails, or tells an earlier end. That is no
 * doubt, and neither kind makes up for the other: each look that is not in doubt is the answer. See docs/decisions/0083.
 */
export class PatientLooks {
  /** Readers come again and again: where there was damage, one look does from then on. */
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
