/** What identity has to know of users that are enrolled in the execution of orders. What their keys may do, their scopes say. */
export const EXECUTION_CATALOGUE = {
  service: 'EXECUTION',
  roles: ['TRADER', 'OPERATOR'],
  capabilities: [],
} as const;
