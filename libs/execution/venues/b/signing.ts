import { constants, createPrivateKey, sign } from 'node:crypto';
import { CredentialsRefused, type Credentials } from '../credentials.js';

const LEAST_BITS = 2_048;

/** Headers signed with credentials that are only being tried. Stored keys are replaced only after a trial succeeds. */
export function trialHeaders(
  { key_id, private_key_pem }: Credentials,
  text: { readonly timestamp_ms: string; readonly method: string; readonly path: string },
): Readonly<Record<string, string>> {
  const signature = sign('sha256', Buffer.from(`${text.timestamp_ms}${text.method}${text.path}`), {
    key: privateKey(private_key_pem),
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  });
  return {
    'KALSHI-ACCESS-KEY': key_id,
    'KALSHI-ACCESS-SIGNATURE': signature.toString('base64'),
    'KALSHI-ACCESS-TIMESTAMP': text.timestamp_ms,
  };
}

function privateKey(pem: string): ReturnType<typeof createPrivateKey> {
  try {
    const key = createPrivateKey(pem);
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    if (key.asymmetricKeyType === 'rsa' && bits >= LEAST_BITS) return key;
  } catch {
    throw new CredentialsRefused('the private key cannot be read');
  }
  throw new CredentialsRefused('the private key is not RSA of at least 2048 bits');
}
