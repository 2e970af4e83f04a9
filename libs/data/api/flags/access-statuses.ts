/** For the interface documents: how calls with API keys are refused where operators control access to the provider. */
export const ACCESS_STATUSES = {
  403: ['API access is disabled for <provider>'],
  503: ['Unable to verify platform API access'],
} as const;
