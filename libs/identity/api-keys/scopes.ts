const WILDCARD = '*';

/** No scope implies another. These requirements list the scopes that satisfy them. */
const SATISFIED_BY: Readonly<Record<string, readonly string[]>> = {
  read: ['read', 'trade:read', 'position:read'],
  trade: ['trade', 'trade:execute'],
};

/** A session has all scopes that endpoints require. */
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

/** True if the granted scopes satisfy a requirement. Scopes match by exact text. */
export function satisfies(granted: readonly string[], required: string): boolean {
  if (granted.includes(WILDCARD)) return true;
  const enough = Object.hasOwn(SATISFIED_BY, required) ? SATISFIED_BY[required] : undefined;
  return (enough ?? [required]).some((scope) => granted.includes(scope));
}

/** True if a key may have the scope. Keys can neither bid nor invite bids. */
export function isGrantable(scope: string): boolean {
  return /^[!-~]{1,64}$/.test(scope) && !scope.startsWith('auction:');
}
