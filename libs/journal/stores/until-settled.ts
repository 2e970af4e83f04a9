import { pause, type Clock } from '#libs/platform/time/clock.js';
import { Countdown } from '../kafka/countdown.js';
import { KafkaUnsettled } from '../kafka/topic-log.js';

const SETTLED_WITHIN_SECONDS = 30;
const AGAIN_MILLIS = 500;

/** How a start waits for the brokers. */
export interface Patience {
  readonly clock: Clock;
  /** Receives the reason for the wait, once. */
  readonly tell?: ((line: string) => void) | undefined;
  /** Ends the waiting. */
  readonly stopping?: AbortSignal | undefined;
}

/** A start must not fail because a broker was killed a moment ago. A running owner waits as long for the next leader. */
export async function untilSettled<T>(
  { clock, tell, stopping }: Patience,
  work: () => Promise<T>,
): Promise<T> {
  const remaining = new Countdown(clock, SETTLED_WITHIN_SECONDS * 1_000);
  for (let tried = 0; ; tried += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof KafkaUnsettled) || remaining.isOver || stopping?.aborted === true) throw error;
      if (tried === 0) {
        tell?.(
          `${error.message}; waiting up to ${SETTLED_WITHIN_SECONDS} s for the brokers to elect a leader`,
        );
      }
    }
    await pause(clock, AGAIN_MILLIS);
  }
}
