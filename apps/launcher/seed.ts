import type { Seed } from './seed-result.js';

export const seedDemo: Seed = () => Promise.resolve({ password: 'demo', users: [], contracts: [] });
