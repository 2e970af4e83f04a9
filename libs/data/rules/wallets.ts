const HEX_ADDRESS = /^0x[0-9a-f]{40}$/i;

/** Hexadecimal addresses ignore case and are stored in lower case; base58 addresses do not. */
export function canonicalWallet(address: string): string {
  return HEX_ADDRESS.test(address) ? address.toLowerCase() : address;
}
