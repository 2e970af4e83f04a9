import { loadConfigOrExit, processSettings } from '#libs/platform/settings/process-settings.js';
import { addressOf } from '#libs/platform/internal-server/internal-host.js';

const ANSWER_WITHIN_MS = 2_500;

/**
 * The health check of containers. Asks the process in the same container, by the same settings, whether it is
 * ready.
 */
const { INTERNAL_HOST: host, INTERNAL_PORT: port } = loadConfigOrExit(
  'healthy',
  processSettings,
  process.env,
);
const address = addressOf(host);
const url = `http://${address.includes(':') ? `[${address}]` : address}:${port}/readyz`;
const isReady = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }).then(
  (response) => response.ok,
  () => false,
);
process.exitCode = isReady ? 0 : 1;
