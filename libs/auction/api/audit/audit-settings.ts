import { defineConfig } from '#libs/platform/settings/config.js';
import { hexKey, hexKeys } from '#libs/platform/settings/setting-types.js';

/** Of a process that answers auditors. */
export const auditSettings = defineConfig({
  AUDIT_KEY: {
    schema: hexKey(),
    describe: 'Key from which auditors get pseudonyms for accounts; the same at all gateways, for good',
    secret: true,
  },
  AUDIT_SIGNING_KEY: {
    schema: hexKeys(),
    describe:
      'Private Ed25519 keys (their 32-byte seeds) of replay bundles: the first signs, all are published',
    secret: true,
  },
});
