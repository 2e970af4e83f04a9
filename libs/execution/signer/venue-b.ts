import { constants, sign, type KeyObject } from 'node:crypto';
import { SignerFailure, type HeaderSigning } from '../protocol/signer-protocol.js';

const PREFIX = '/trade-api/v2/';
/**
 * Segments of letters, digits and characters of ids. It excludes dots that climb and anything a server could read
 * differently.
 */
const PATH = /^(?:[A-Za-z0-9_-][A-Za-z0-9._:-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._:-]*$/;
const SOCKET_PATH = '/trade-api/ws/v2';
const MOST = 512;

/** Calls that may be signed: those of trading, and none that creates or removes keys. */
const CALLS: readonly { readonly method: string; readonly path: RegExp }[] = [
  { method: 'GET', path: /^(?:portfolio|exchange|markets|events|series|account|communications)(?:\/|$)/ },
  { method: 'POST', path: /^portfolio\// },
  { method: 'PUT', path: /^portfolio\// },
  { method: 'DELETE', path: /^portfolio\// },
];

/** The text to sign. */
export function headerText({ method, path, timestamp_ms: at }: Omit<HeaderSigning, 'op'>): string {
  const isSocket = method === 'GET' && path === SOCKET_PATH;
  if (!isSocket && !isKnownCall(method, path)) {
    throw new SignerFailure('SIGNER_REFUSED', `${method} of this path is not signed`);
  }
  return `${at}${method}${path}`;
}

function isKnownCall(method: string, path: string): boolean {
  if (!path.startsWith(PREFIX) || path.length > MOST) return false;
  const rest = path.slice(PREFIX.length);
  return PATH.test(rest) && CALLS.some((call) => call.method === method && call.path.test(rest));
}

/** Runs on another thread, because it takes a third of a millisecond. */
export function signText(text: string, key: KeyObject): Promise<string> {
  return new Promise((resolve, reject) => {
    const padded = {
      key,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    };
    sign('sha256', Buffer.from(text), padded, (error, signature) => {
      if (error === null) resolve(signature.toString('base64'));
      else reject(error);
    });
  });
}
