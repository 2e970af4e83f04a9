/** What identity has to know of users of market data. Who is enrolled is invited; keys are not asked. */
export const DATA_CATALOGUE = { service: 'DATA', roles: ['READER'], capabilities: [] } as const;
