export default async function teardown(globalConfig, projectConfig) {
  const { default: stop } = await import('../../dist/libs/testing/database/postgres-teardown.js');
  await stop(globalConfig, projectConfig);
}
