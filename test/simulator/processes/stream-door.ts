import type { Caller } from '#libs/edge/endpoint.js';
import type { ClientSession } from '#libs/socket/session-guard.js';
import type { StreamSocket } from '#libs/socket/socket.js';
import type { StreamHub } from '#libs/auction/stream/stream-hub.js';
import type { WireEnd } from '../wire/wire-end.js';

const FAR_AHEAD = 4_000_000_000;
/** More than a socket holds, so the hub fills no unread socket beyond it. */
const FULL = 1_000_000;

/** Every account has both capabilities; the policy decides. */
export function principalOf(account: string): Caller {
  return {
    account_id: account,
    roles: new Set(),
    capabilities: new Set(['auction:create', 'auction:quote']),
  };
}

/** A token is an account's name here: authentication is not simulated. */
export function sessionOf(token: string): ClientSession<Caller> {
  return { principal: principalOf(token), expiresAt: FAR_AHEAD };
}

/** A valid handshake becomes a connection, as in the gateway's stream server. */
export function acceptStream(hub: StreamHub, end: WireEnd, account: string): void {
  let isPaused = false;
  let kept: string[] = [];
  const socket: StreamSocket = {
    get buffered() {
      return end.isUnread ? FULL : end.buffered;
    },
    send: (text, onWritten) => end.send(text, onWritten),
    cork: () => undefined,
    uncork: () => undefined,
    ping: () => undefined,
    pause: () => {
      isPaused = true;
    },
    resume: () => {
      isPaused = false;
      for (const text of kept.splice(0)) end.onText(text);
    },
    close: (code) => end.close(code),
    // Here a close needs no answer.
    cut: () => undefined,
  };
  const connection = hub.open(socket, { token: account, session: sessionOf(account) });
  end.onText = (text) => {
    if (isPaused) kept = [...kept, text];
    else connection.onText(text);
  };
  end.onClose = (code) => hub.closed(connection, code);
}
