import { CAMPAIGN_BUGS, FUZZ_BUGS } from './bugs-on-real-processes.js';
import type { PlantedBug } from './planted-bug.js';
import { ORDER_BUGS } from './order-bugs.js';
import { SIMULATOR_BUGS } from './simulator-bugs.js';

/** Each stands for a promise, or a part of the product, that no other bug here covers. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...SIMULATOR_BUGS.map((bug) => ({ ...bug, foundBy: 'simulator' as const })),
  ...CAMPAIGN_BUGS.map((bug) => ({ ...bug, foundBy: 'campaign' as const })),
  ...FUZZ_BUGS.map((bug) => ({ ...bug, foundBy: 'fuzz' as const })),
  ...ORDER_BUGS.map((bug) => ({ ...bug, foundBy: 'orders' as const })),
];
