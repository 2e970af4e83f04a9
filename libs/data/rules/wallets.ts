const HEX_ADDRESS = /^0x[0-9a-f]{40}$/i;

/** Addresses in hexadecimal mean the same in any case and are kept in lower case, those in base58 do not. */
export function canonicalWallet(address: string): string {
  return HEX_ADDRESS.test(address) ? address.toLowerCase() : address;
}
