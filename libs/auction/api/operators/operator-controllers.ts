import { HaltsController } from './halts.controller.js';
import { OperatorReadsController } from './operator-reads.controller.js';
import { ShardsController } from './shards.controller.js';
import { VoidsController } from './voids.controller.js';

/** To everyone but operators their endpoints do not exist. */
export const OPERATOR_CONTROLLERS = [
  ShardsController,
  HaltsController,
  VoidsController,
  OperatorReadsController,
];
