import { SESSION_COOKIE } from '../sessions/session-cookie.js';

/** By names in lower case, as in Node. */
export type HeaderValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The credentials of a caller. A part is undefined if it was not sent, or has an impossible form. */
export type Presented =
  | {
      readonly kind: 'key';
      readonly client_id: string;
      readonly api_key: string | undefined;
      readonly api_secret: string | undefined;
    }
  | { readonly kind: 'token'; readonly token: string | undefined }
  /** Incomplete parts of a triple. */
  | { readonly kind: 'parts' }
  | { readonly kind: 'nothing' };

const BEARER_SCHEME = /^bearer(?:\s|$)/i;
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

export interface PresentedParts {
  readonly headers: HeaderValues;
  /** A token that did not come in a header, for instance from a subprotocol. */
  readonly token?: string;
  /** False for handshakes, because a browser sends cookies with the handshakes of any page. */
  readonly takesCookie: boolean;
}

/** Precedence: a client id, even an empty one, then a bearer token, then the cookie. */
export function presentedIn({ headers, token, takesCookie }: PresentedParts): Presented {
  const client_id = textOf(headers['x-client-id']);
  const api_key = textOf(headers['x-api-key']);
  const api_secret = textOf(headers['x-api-secret']);
  if (client_id !== undefined) return { kind: 'key', client_id, api_key, api_secret };
  const authorization = textOf(headers.authorization);
  if (authorization !== undefined && BEARER_SCHEME.test(authorization)) {
    return { kind: 'token', token: BEARER.exec(authorization)?.[1] };
  }
  if (token !== undefined) return { kind: 'token', token };
  const cookie = takesCookie ? cookieIn(textOf(headers.cookie)) : undefined;
  if (cookie !== undefined) return { kind: 'token', token: cookie === 'several' ? undefined : cookie.token };
  return { kind: api_key === undefined && api_secret === undefined ? 'nothing' : 'parts' };
}

/** Two cookies of the name are refused, because another site may have set one. An empty one counts as missing. */
function cookieIn(header: string | undefined): { readonly token: string } | 'several' | undefined {
  const values = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${SESSION_COOKIE}=`))
    .map((pair) => pair.slice(SESSION_COOKIE.length + 1))
    .filter((value) => value !== '');
  const [token, ...more] = values;
  if (token === undefined) return undefined;
  return more.length > 0 ? 'several' : { token };
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' || value === undefined ? value : value.join(', ');
}
