import { untilNext, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { LinkSocket } from './link-socket.js';

const PULSE_MILLIS = 2_000;
/** A process that is busy for a moment must not lose its links. */
const MISSED_PULSES = 3;

/**
 * A connection whose other end vanished silently looks like a quiet one. So an end sends a ping now and then, and closes the
 * connection after several missing replies. An end that receives pings need not send any: of two live ends only one does.
 */
export function watchPulse(socket: LinkSocket, clock: Clock): void {
  let missed = 0;
  let wasAsked = false;
  let cancel: Cancel = () => undefined;
  const isAlive = (): void => {
    missed = 0;
  };
  socket.on('message', isAlive);
  socket.on('pong', isAlive);
  socket.on('ping', () => {
    wasAsked = true;
    isAlive();
  });
  socket.on('close', () => {
    cancel();
  });
  const beat = (): void => {
    if (missed === MISSED_PULSES) {
      socket.terminate();
      return;
    }
    if (!wasAsked) {
      missed += 1;
      socket.ping();
    }
    wasAsked = false;
    cancel = clock.after(untilNext(clock, PULSE_MILLIS), beat);
  };
  cancel = clock.after(untilNext(clock, PULSE_MILLIS), beat);
}
