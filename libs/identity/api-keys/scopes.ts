const WILDCARD = '*';

/** No scope implies another: these requirements list what satisfies them. */
const SATISFIED_BY: Readonly<Record<string, readonly string[]>> = {
  read: ['read', 'trade:read', 'position:read'],
  trade: ['trade', 'trade:execute'],
};

/** What a session may do, of all that is asked for anywhere. */
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

/** What a key may be given. Nobody bids or invites bids with a key. */
export function isGrantable(scope: string): boolean {
  return /^[!-~]{1,64}$/.test(scope) && !scope.startsWith('auction:');
}
