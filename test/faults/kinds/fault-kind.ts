import type { Random } from '../../simulator/kernel/random.js';
import { SHOWS_PROCESSES } from '../installation/families.js';
import type { Installation } from '../installation/installation.js';

/** Something that goes wrong, and is repaired as far as an operator would. */
export interface InjectedFaultKind {
  /** What is done, and to which kind of process: `kill:owner`. */
  readonly name: string;
  /** The reason why it is impossible here, if it is. */
  readonly missing: (site: Installation) => string | undefined;
  /**
   * Resolves once the cause is gone; its effects may last longer. Rejects if the fault did not happen, or could
   * not be observed: then it does not count.
   */
  readonly strike: (site: Installation, random: Random) => Promise<void>;
}

export const alwaysThere = (): undefined => undefined;

/** Only /proc shows which processes are stopped and connected. */
export const whereItIsSeen = (): string | undefined =>
  SHOWS_PROCESSES ? undefined : 'it could not be observed: that takes Linux';
