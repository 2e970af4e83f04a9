import { createHash, createPrivateKey, generateKeyPair, randomBytes, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { instantFromNanos, type Instant } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import {
  SignerFailure,
  VAULT_USER,
  type ActionSigning,
  type HeaderSigning,
  type SignedAction,
  type SignedHeaders,
  type SignerAccount,
  type SignerReply,
  type SignerRequest,
} from '../protocol/signer-protocol.js';
import type { KeyManagement, KeyOwner } from './key-management.js';
import type { SealedKey, SealedKeys } from './sealed-keys.js';
import type { SignatureRecord } from './signature-record.js';
import { addressOf, isPrivateKey, signDigest } from '#libs/platform/ethereum/typed-data.js';
import { headerText, signText } from './venue-b.js';
import { preparedAction, type ActionEffect, type VenueNetwork } from './venue-e.js';

const generatePair = promisify(generateKeyPair);
const KEY_BYTES = 32;
const MODULUS_BITS = 2_048;
const MOST_OPEN = 4_096;

export interface SigningParts {
  readonly keys: SealedKeys;
  readonly management: KeyManagement;
  readonly record: SignatureRecord;
  readonly clock: Clock;
  /** The network of venue e for which the signatures are valid. */
  readonly network: VenueNetwork;
}

type OpenKey = SignerAccount &
  (
    | { readonly venue: 'venue_b'; readonly rsa: KeyObject }
    | { readonly venue: 'venue_e'; readonly ofAccount: Buffer; readonly ofAgent: Buffer }
  );

/** Signs what its policy allows, after it has recorded it. Only this process has keys in the clear. */
export class SigningService {
  /** By owner, the first opened first. */
  private readonly open = new Map<string, OpenKey>();
  private replaced = 0;

  constructor(private readonly parts: SigningParts) {}

  async answer(request: SignerRequest): Promise<SignerReply> {
    switch (request.op) {
      case 'create_key':
        return { ok: true, ...(await this.create(request)) };
      case 'name_key': {
        const key = await this.sealedOf(request);
        const named = { ...key, account: request.account, key_id: request.key_id };
        return { ok: true, ...(await this.keep(request, named)) };
      }
      case 'store_key': {
        const { account, key_id: keyId } = request;
        const der = privateKeyOf(request.private_key_pem);
        const sealed = await this.parts.management.wrap(der, request);
        return { ok: true, ...(await this.keep(request, { account, key_id: keyId, sealed })) };
      }
      case 'account_of':
        return { ok: true, ...accountOf(await this.sealedOf(request)) };
      case 'sign':
        return {
          ok: true,
          ...(await (request.venue === 'venue_b' ? this.signHeaders(request) : this.signAction(request))),
        };
      case 'status':
        return { ok: true, keys: await this.parts.keys.count(), signatures: this.parts.record.written };
    }
  }

  private async create(owner: KeyOwner): Promise<SignerAccount> {
    const { keys, management } = this.parts;
    const existing = await keys.find(owner);
    if (existing !== undefined) return accountOf(existing);
    const made = await madeKey(owner);
    const added = await keys.add(owner, {
      ...made.account,
      sealed: await management.wrap(made.secret, owner),
    });
    return added === undefined ? accountOf(await this.sealedOf(owner)) : accountOf(added);
  }

  private async keep(owner: KeyOwner, key: SealedKey): Promise<SignerAccount> {
    const kept = await this.parts.keys.replace(owner, key);
    this.replaced += 1;
    this.open.delete(nameOf(owner));
    return accountOf(kept);
  }

  private async signHeaders(request: HeaderSigning): Promise<SignedHeaders> {
    const text = headerText(request);
    const key = await this.keyOf(request);
    if (key.venue !== 'venue_b' || key.key_id === undefined) throw notLinked();
    const digest = createHash('sha256').update(text).digest();
    const signedAt = await this.write(request, key.key_id, { content: text, digest });
    return {
      signed_at: signedAt,
      headers: {
        'KALSHI-ACCESS-KEY': key.key_id,
        'KALSHI-ACCESS-SIGNATURE': await signText(text, key.rsa),
        'KALSHI-ACCESS-TIMESTAMP': request.timestamp_ms,
      },
    };
  }

  private async signAction(request: ActionSigning): Promise<SignedAction> {
    const { digest, effect, content } = preparedAction(request, this.parts.network);
    const key = await this.keyOf(request);
    if (key.venue !== 'venue_e' || key.agent === undefined) throw notLinked();
    await this.refuseEffect(request.user_id, key.agent, effect);
    const isByAgent = request.by === 'agent';
    const signedAt = await this.write(request, isByAgent ? key.agent : key.account, { content, digest });
    return { signed_at: signedAt, signature: signDigest(digest, isByAgent ? key.ofAgent : key.ofAccount) };
  }

  /** Only the agent stored here may be authorized, and money may go only between a user's account and the vault's. */
  private async refuseEffect(user: string, agent: string, effect: ActionEffect): Promise<void> {
    if (effect === undefined) return;
    if ('agent' in effect) {
      if (effect.agent !== agent)
        throw new SignerFailure('SIGNER_REFUSED', 'this is not the agent kept here');
      return;
    }
    const { keys } = this.parts;
    const isAllowed =
      user === VAULT_USER
        ? await keys.isAccount('venue_e', effect.destination)
        : (await keys.find({ user_id: VAULT_USER, venue: 'venue_e' }))?.account === effect.destination;
    if (!isAllowed) throw new SignerFailure('SIGNER_REFUSED', 'nothing is sent to this address');
  }

  private async write(
    request: HeaderSigning | ActionSigning,
    keyId: string,
    what: { readonly content: string; readonly digest: Uint8Array },
  ): Promise<Instant> {
    const { user_id, venue, order_id } = request;
    const body_sha256 = request.venue === 'venue_b' ? request.body_sha256 : undefined;
    const written_at = instantFromNanos(this.parts.clock.epochNanos());
    const { record } = this.parts;
    const signature = { user_id, venue, key_id: keyId, order_id, ...what, body_sha256, written_at };
    const isRead = request.venue === 'venue_b' && request.method === 'GET';
    await (isRead ? record.writeRead(signature) : record.write(signature));
    return written_at;
  }

  private async sealedOf(owner: KeyOwner): Promise<SealedKey> {
    const key = await this.parts.keys.find(owner);
    if (key === undefined) throw notLinked();
    return key;
  }

  private async keyOf(owner: KeyOwner): Promise<OpenKey> {
    const name = nameOf(owner);
    const known = this.open.get(name);
    if (known !== undefined) return known;
    const before = this.replaced;
    const { sealed, ...account } = await this.sealedOf(owner);
    const secret = await this.parts.management.unwrap(sealed, owner);
    const opened = openKey(owner, account, secret);
    // A key that another request has replaced meanwhile must not be cached.
    if (this.replaced !== before) return opened;
    const [oldest] = this.open.keys();
    if (oldest !== undefined && this.open.size >= MOST_OPEN) this.open.delete(oldest);
    this.open.set(name, opened);
    return opened;
  }
}

function openKey({ venue }: KeyOwner, account: SignerAccount, secret: Buffer): OpenKey {
  if (venue === 'venue_b') {
    const rsa = createPrivateKey({ key: secret, format: 'der', type: 'pkcs8' });
    return { ...account, venue, rsa };
  }
  if (venue !== 'venue_e') throw notLinked();
  return {
    ...{ ...account, venue },
    ofAccount: secret.subarray(0, KEY_BYTES),
    ofAgent: secret.subarray(KEY_BYTES),
  };
}

/** Generating RSA keys takes a while, so it runs off this thread. */
async function madeKey({
  venue,
}: KeyOwner): Promise<{ readonly account: SignerAccount; readonly secret: Buffer }> {
  if (venue === 'venue_e') {
    const [ofAccount, ofAgent] = [newPrivateKey(), newPrivateKey()];
    const account = { account: addressOf(ofAccount), agent: addressOf(ofAgent) };
    return { account, secret: Buffer.concat([ofAccount, ofAgent]) };
  }
  if (venue !== 'venue_b') throw new SignerFailure('SIGNER_REFUSED', `no keys are made for ${venue}`);
  const { publicKey, privateKey } = await generatePair('rsa', { modulusLength: MODULUS_BITS });
  const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  return {
    account: { account: '', public_key_pem: pem },
    secret: privateKey.export({ format: 'der', type: 'pkcs8' }),
  };
}

function newPrivateKey(): Buffer {
  for (;;) {
    const key = randomBytes(KEY_BYTES);
    if (isPrivateKey(key)) return key;
  }
}

function privateKeyOf(pem: string): Buffer {
  const key = parsedKey(pem);
  const bits = key?.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key?.asymmetricKeyType !== 'rsa' || bits < MODULUS_BITS) {
    throw new SignerFailure('SIGNER_REFUSED', `not an RSA key of at least ${MODULUS_BITS} bits`);
  }
  return key.export({ format: 'der', type: 'pkcs8' });
}

/** The library's error may quote the key, so it is swallowed. */
function parsedKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

function accountOf({ account, agent, key_id: keyId, public_key_pem: pem }: SignerAccount): SignerAccount {
  return {
    account,
    ...(agent === undefined ? {} : { agent }),
    ...(keyId === undefined ? {} : { key_id: keyId }),
    ...(pem === undefined ? {} : { public_key_pem: pem }),
  };
}

function nameOf({ user_id: user, venue }: KeyOwner): string {
  return `${venue}/${user}`;
}

function notLinked(): SignerFailure {
  return new SignerFailure('NOT_LINKED', 'no key of this user for this venue is kept here');
}
