import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { textOf } from '../../docs/markdown.js';
import { paste, stepsOf } from '../../docs/pasting.js';
import { sharedFloor, type TradingFloor } from '../trading-floor.js';

let floor: TradingFloor;

beforeAll(async () => {
  floor = await sharedFloor();
}, 90_000);

afterAll(() => {
  floor.close();
});

describe('the guide for originators and makers', () => {
  it('works word for word and prints the documented output', async () => {
    const steps = stepsOf(textOf('docs/use/auctions.md'));
    expect(steps.filter(({ prints }) => prints !== undefined).length).toBeGreaterThan(4);
    const outputs = await paste(steps, { SOTTO: floor.cluster.gatewayUrl });
    expect(outputs).toHaveLength(steps.length);
    for (const [index, { prints }] of steps.entries()) {
      if (prints === undefined) expect(outputs[index]).not.toMatch(/"error"|undefined|curl:/);
      else expect(outputs[index]).toBe(prints);
    }
  }, 60_000);
});
