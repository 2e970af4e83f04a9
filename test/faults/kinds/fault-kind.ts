import type { Random } from '../../simulator/kernel/random.js';
import { SHOWS_PROCESSES } from '../installation/families.js';
import type { Installation } from '../installation/installation.js';

/** Something that goes wrong, and is put right again as far as an operator would. */
export interface InjectedFaultKind {
  /** What is done, and to which sort of thing: `kill:owner`. */
  readonly name: string;
  /** Why it cannot be done here, where it cannot. */
  readonly missing: (site: Installation) => string | undefined;
  /**
   * Resolves when the cause is gone; what it has led to may take longer. Rejects where it has not come about, or where nobody could see
   * that it has: such a fault counts for nothing.
   */
  readonly strike: (site: Installation, random: Random) => Promise<void>;
}

export const alwaysThere = (): undefined => undefined;

/** What stands still, and who is connected, is seen in /proc alone. */
export const whereItIsSeen = (): string | undefined =>
  SHOWS_PROCESSES ? undefined : 'nobody would see that it has come about: that takes Linux';
