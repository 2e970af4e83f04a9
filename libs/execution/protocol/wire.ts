/**
 * JSON in which bigints are exact: `{"$n": "123"}`. No other object of our messages and events has that member, and no text can be
 * mistaken for one.
 */
export function toWire(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'bigint' ? { $n: member.toString() } : member,
  );
}

export function fromWire(text: string): unknown {
  return JSON.parse(text, (_name, member: unknown) => (isNumber(member) ? BigInt(member.$n) : member));
}

function isNumber(member: unknown): member is { readonly $n: string } {
  return typeof member === 'object' && member !== null && '$n' in member && typeof member.$n === 'string';
}
