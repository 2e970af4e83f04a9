import { untilNext, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { LinkSocket } from './link-socket.js';

const PING_MILLIS = 2_000;
/** More than one, so that a process that is busy for a moment does not lose its links. */
const MAX_MISSED = 3;

/**
 * Pings an idle peer and terminates the connection after several missing replies, because a peer that vanished silently looks
 * like an idle one. An end that receives pings sends none, so only one of two live ends pings.
 */
export function watchPulse(socket: LinkSocket, clock: Clock): void {
  let missed = 0;
  let wasPinged = false;
  let cancel: Cancel = () => undefined;
  const onAlive = (): void => {
    missed = 0;
  };
  socket.on('message', onAlive);
  socket.on('pong', onAlive);
  socket.on('ping', () => {
    wasPinged = true;
    onAlive();
  });
  socket.on('close', () => {
    cancel();
  });
  const beat = (): void => {
    if (missed === MAX_MISSED) {
      socket.terminate();
      return;
    }
    if (!wasPinged) {
      missed += 1;
      socket.ping();
    }
    wasPinged = false;
    cancel = clock.after(untilNext(clock, PING_MILLIS), beat);
  };
  cancel = clock.after(untilNext(clock, PING_MILLIS), beat);
}
