const WILDCARD = '*';

/** No scope implies another: these requirements list the scopes that satisfy them. */
const SATISFIED_BY: Readonly<Record<string, readonly string[]>> = {
  read: ['read', 'trade:read', 'position:read'],
  trade: ['trade', 'trade:execute'],
};

/** The scopes of a session: all that endpoints require. */
export const SESSION_SCOPES: readonly string[] = [
  'position:read',
  'read',
  'trade',
  'trade:execute',
  'trade:read',
];

export const PRESETS = {
  readonly: ['position:read', 'read', 'trade:read'],
  trading: ['position:read', 'read', 'trade:execute', 'trade:read'],
} as const;
export type Preset = keyof typeof PRESETS;

/** Scopes match by exact text. */
export function satisfies(granted: readonly string[], required: string): boolean {
  if (granted.includes(WILDCARD)) return true;
  const enough = Object.hasOwn(SATISFIED_BY, required) ? SATISFIED_BY[required] : undefined;
  return (enough ?? [required]).some((scope) => granted.includes(scope));
}

/** Whether a key may have the scope. Keys cannot bid or invite bids. */
export function isGrantable(scope: string): boolean {
  return /^[!-~]{1,64}$/.test(scope) && !scope.startsWith('auction:');
}
