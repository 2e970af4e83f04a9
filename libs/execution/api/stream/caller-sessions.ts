import type {
  ApiAuthenticator,
  ApiCaller,
  CredentialRefusal,
  Rechecked,
} from '#libs/identity/api-keys/authenticate.js';
import { satisfies } from '#libs/identity/api-keys/scopes.js';
import type { ClientSession, SessionCheck, SessionOutcome, Sessions } from '#libs/socket/session-guard.js';
import type { StreamCaller, StreamScope } from '../../stream/ports.js';

/** The caller of a new socket, and a check that its credentials are still valid. */
export interface OpenedWith {
  readonly caller: ApiCaller;
  readonly recheck: () => Rechecked;
  readonly address: string;
}

const SCOPES: readonly StreamScope[] = ['trade:read', 'trade:execute'];
/** A key has no session end. It is valid until a check fails. */
const NO_END = Number.MAX_SAFE_INTEGER;

/**
 * Checks again and again whether the callers of open sockets are still valid. A socket has only a random name for its credentials,
 * so that it keeps no secret. A name that was not made here is a new session token.
 */
export class CallerSessions implements Sessions<StreamCaller> {
  private readonly opened = new Map<string, OpenedWith>();

  constructor(
    private readonly authenticator: Pick<ApiAuthenticator, 'authenticate'>,
    private readonly newName: () => string,
  ) {}

  /** A name for the credentials of a new connection, and its session. */
  credentialsOf(opened: OpenedWith): {
    readonly token: string;
    readonly session: ClientSession<StreamCaller>;
  } {
    const token = this.newName();
    this.opened.set(token, opened);
    return { token, session: sessionOf(opened.caller, opened.address) };
  }

  checkOf(token: string): SessionCheck<StreamCaller> {
    const opened = this.opened.get(token);
    this.opened.delete(token);
    return opened === undefined ? this.checkOfToken(token) : checkOfOpened(opened);
  }

  /** Checks a new session token with its address, as `tokenOver` joins them. */
  private checkOfToken(addressed: string): SessionCheck<StreamCaller> {
    const gap = addressed.indexOf(' ');
    const [address, token] = [addressed.slice(0, gap), addressed.slice(gap + 1)];
    let check: SessionCheck<StreamCaller> | undefined;
    return async () => {
      if (check !== undefined) return check();
      const parts = { headers: {}, token, takesCookie: false, peer: address, wrongTriple: 401 } as const;
      const outcome = await this.authenticator.authenticate(parts);
      if (!outcome.ok) return refused(outcome.refusal);
      check = checkOfOpened({ ...outcome, address });
      return sessionOf(outcome.caller, address);
    };
  }
}

function checkOfOpened({ caller, recheck, address }: OpenedWith): SessionCheck<StreamCaller> {
  let known: { readonly caller: ApiCaller; readonly session: ClientSession<StreamCaller> } = {
    caller,
    session: sessionOf(caller, address),
  };
  const outcomeOf = (now: ApiCaller | CredentialRefusal): SessionOutcome<StreamCaller> => {
    if ('status' in now) return refused(now);
    // The socket was opened with this scope and must not go on without it.
    if (satisfies(caller.scopes, 'trade:read') && !satisfies(now.scopes, 'trade:read')) return 'forbidden';
    if (now !== known.caller) known = { caller: now, session: sessionOf(now, address) };
    return known.session;
  };
  return () => {
    const now = recheck();
    return now instanceof Promise ? now.then(outcomeOf) : outcomeOf(now);
  };
}

function refused({ status }: CredentialRefusal): 'unauthorized' | 'forbidden' | 'unavailable' {
  if (status === 403) return 'forbidden';
  return status === 401 ? 'unauthorized' : 'unavailable';
}

function sessionOf(caller: ApiCaller, address: string): ClientSession<StreamCaller> {
  const { user_id, client_id, orders_per_minute, scopes, session } = caller;
  return {
    principal: {
      ...{ account_id: user_id, address },
      ...(client_id === undefined ? {} : { client_id }),
      ...(orders_per_minute === undefined ? {} : { orders_per_minute }),
      scopes: new Set(SCOPES.filter((scope) => satisfies(scopes, scope))),
    },
    expiresAt: session?.expiresAt ?? NO_END,
  };
}
