/** What identity must know about users of market data. An enrolled user counts as invited; API keys need no enrolment. */
export const DATA_CATALOGUE = { service: 'DATA', roles: ['READER'], capabilities: [] } as const;
