/** What calls with keys may be refused with where operators decide about a provider, for the interface documents. */
export const ACCESS_STATUSES = {
  403: ['API access is disabled for <provider>'],
  503: ['Unable to verify platform API access'],
} as const;
