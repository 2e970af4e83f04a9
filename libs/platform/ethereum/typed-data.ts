import { keccak_256 } from '@noble/hashes/sha3.js';
import secp256k1 from 'secp256k1';

const WORD = 32;
const RECOVERY_BASE = 27;
const DOMAIN_TYPE = hashOf(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
);

/** A member of a struct in EIP-712: a text is encoded as its hash, everything else as one word. */
export type TypedValue =
  | { readonly text: string }
  | { readonly word: Uint8Array }
  | { readonly address: string }
  | { readonly uint: bigint };

/** The signature of a digest, in the form that venues use. */
export interface DigestSignature {
  readonly r: string;
  readonly s: string;
  readonly v: number;
}

export function hashOf(content: string | Uint8Array): Uint8Array {
  return keccak_256(typeof content === 'string' ? Buffer.from(content) : content);
}

function encoded(value: TypedValue): Uint8Array {
  if ('text' in value) return hashOf(value.text);
  if ('word' in value) return value.word;
  const word = Buffer.alloc(WORD);
  if ('address' in value) Buffer.from(value.address.slice(2), 'hex').copy(word, WORD - 20);
  else word.write(value.uint.toString(16).padStart(WORD * 2, '0'), 'hex');
  return word;
}

function structHash(typeHash: Uint8Array, values: readonly TypedValue[]): Uint8Array {
  return hashOf(Buffer.concat([typeHash, ...values.map(encoded)]));
}

/** The hash of a domain without a verifying contract, as the venues use it. */
export function domainHash(name: string, chainId: bigint): Uint8Array {
  const values = [{ text: name }, { text: '1' }, { uint: chainId }, { uint: 0n }];
  return structHash(DOMAIN_TYPE, values);
}

export function typedDigest(domain: Uint8Array, type: string, values: readonly TypedValue[]): Uint8Array {
  return hashOf(Buffer.concat([Buffer.from([0x19, 0x01]), domain, structHash(hashOf(type), values)]));
}

export function signDigest(digest: Uint8Array, key: Uint8Array): DigestSignature {
  const { signature, recid } = secp256k1.ecdsaSign(digest, key);
  const hex = Buffer.from(signature).toString('hex');
  return { r: `0x${hex.slice(0, 64)}`, s: `0x${hex.slice(64)}`, v: RECOVERY_BASE + recid };
}

/** The address of a private key, in lower case. */
export function addressOf(privateKey: Uint8Array): string {
  return addressOfPoint(secp256k1.publicKeyCreate(privateKey, false));
}

function addressOfPoint(point: Uint8Array): string {
  const hash = Buffer.from(hashOf(point.subarray(1))).toString('hex');
  return `0x${hash.slice(24)}`;
}

/** The signer's address. Undefined for an invalid signature. */
export function signerOf(digest: Uint8Array, { r, s, v }: DigestSignature): string | undefined {
  try {
    const signature = Buffer.from(`${r.slice(2)}${s.slice(2)}`, 'hex');
    return addressOfPoint(secp256k1.ecdsaRecover(signature, v - RECOVERY_BASE, digest, false));
  } catch {
    return undefined;
  }
}

export function isPrivateKey(bytes: Uint8Array): boolean {
  return secp256k1.privateKeyVerify(bytes);
}
