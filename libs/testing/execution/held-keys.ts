import { constants, sign } from 'node:crypto';
import {
  SignerFailure,
  type ActionSigning,
  type HeaderSigning,
  type SignedAction,
  type SignedHeaders,
  type Signer,
  type SignerAccount,
} from '#libs/execution/protocol/signer-protocol.js';

interface RingKey {
  readonly account: string;
  readonly key_id: string;
  readonly private_key_pem: string;
}

/** A signer with keys of venue b in memory, for tests that need signatures but not key storage. */
export class HeldKeys implements Signer {
  isAway = false;
  private readonly keys = new Map<string, RingKey>();

  sign(request: Omit<HeaderSigning, 'op'>): Promise<SignedHeaders>;
  sign(request: Omit<ActionSigning, 'op'>): Promise<SignedAction>;
  sign(
    request: Omit<HeaderSigning, 'op'> | Omit<ActionSigning, 'op'>,
  ): Promise<SignedHeaders | SignedAction> {
    const key = this.keys.get(request.user_id);
    if (this.isAway) return Promise.reject(new SignerFailure('SIGNER_UNAVAILABLE', 'the signer is away'));
    if (key === undefined) return Promise.reject(new SignerFailure('NOT_LINKED', 'no key'));
    if (request.venue !== 'venue_b') return Promise.reject(new SignerFailure('SIGNER_REFUSED', 'of b alone'));
    const { timestamp_ms, method, path } = request;
    const signature = sign('sha256', Buffer.from(`${timestamp_ms}${method}${path}`), {
      key: key.private_key_pem,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    });
    const headers = {
      'KALSHI-ACCESS-KEY': key.key_id,
      'KALSHI-ACCESS-SIGNATURE': signature.toString('base64'),
      'KALSHI-ACCESS-TIMESTAMP': timestamp_ms,
    };
    return Promise.resolve({ signed_at: new Date(Number(timestamp_ms)).toISOString(), headers });
  }

  storeKey(user_id: string, key: RingKey): Promise<SignerAccount> {
    this.keys.set(user_id, key);
    return Promise.resolve({ account: key.account, key_id: key.key_id });
  }

  accountOf(user_id: string): Promise<SignerAccount | undefined> {
    const key = this.keys.get(user_id);
    return Promise.resolve(key === undefined ? undefined : { account: key.account, key_id: key.key_id });
  }

  createKey = (): Promise<never> => Promise.reject(new SignerFailure('SIGNER_REFUSED', 'makes no keys'));
  nameKey = (): Promise<never> => Promise.reject(new SignerFailure('SIGNER_REFUSED', 'makes no keys'));
  status = (): Promise<{ keys: number; signatures: number }> =>
    Promise.resolve({ keys: this.keys.size, signatures: 0 });
}
