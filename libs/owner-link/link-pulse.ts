import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import type { LinkSocket } from './link-socket.js';

const PULSE_MILLIS = 2_000;
/** A process that is busy for a moment must not lose its links for it. */
const MISSED_PULSES = 3;

/**
 * A connection whose other end has gone without a word looks like one on which nobody happens to speak, and would be waited on for
 * ever. So each end asks for a sign of life now and then, and ends a connection on which several in a row have not come.
 */
export function watchPulse(socket: LinkSocket, clock: Clock): void {
  let missed = 0;
  let cancel: Cancel = () => undefined;
  const isAlive = (): void => {
    missed = 0;
  };
  socket.on('message', isAlive);
  socket.on('pong', isAlive);
  socket.on('close', () => {
    cancel();
  });
  const beat = (): void => {
    if (missed === MISSED_PULSES) {
      socket.terminate();
      return;
    }
    missed += 1;
    socket.ping();
    cancel = clock.after(PULSE_MILLIS, beat);
  };
  cancel = clock.after(PULSE_MILLIS, beat);
}
