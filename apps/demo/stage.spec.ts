import { expect, it } from '@jest/globals';
import { loadConfig } from '#libs/platform/settings/config.js';
import { demoConfig } from './config.js';
import { findStage } from './stage.js';

it('says how a cluster is started in the folder where none runs', async () => {
  const stage = findStage(loadConfig(demoConfig, { DATA_DIR: '/nowhere at all' }));
  await expect(stage).rejects.toThrow("start one with `DATA_DIR='/nowhere at all' npm start`");
});
