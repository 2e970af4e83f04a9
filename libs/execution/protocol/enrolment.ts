/** What the identity service knows about users of order execution. Scopes say what their keys may do. */
export const EXECUTION_CATALOGUE = {
  service: 'EXECUTION',
  roles: ['TRADER', 'OPERATOR'],
  capabilities: [],
} as const;
