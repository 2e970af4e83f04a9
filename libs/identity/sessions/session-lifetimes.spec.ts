import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '#libs/platform/settings/config.js';
import { LONGEST_LIFETIMES, lifetimesOf, sessionSettings } from './session-lifetimes.js';

const SESSION_KEK = 'ef'.repeat(32);

describe('the lifetimes of sessions', () => {
  it('are the specified maxima by default', () => {
    const lifetimes = lifetimesOf(loadConfig(sessionSettings, { SESSION_KEK }));
    expect(lifetimes).toEqual(LONGEST_LIFETIMES);
    expect(lifetimes).toEqual({ tokenSeconds: 86_400, refreshSeconds: 14_400, sessionSeconds: 100_800 });
  });

  it.each([
    ['SESSION_TTL_S', 86_400],
    ['SESSION_REFRESH_S', 14_400],
    ['SESSION_MAX_S', 100_800],
  ])('can be shortened but not lengthened: %s', (name, longest) => {
    expect(() => loadConfig(sessionSettings, { SESSION_KEK, [name]: String(longest - 1) })).not.toThrow();
    expect(() => loadConfig(sessionSettings, { SESSION_KEK, [name]: String(longest + 1) })).toThrow(name);
  });

  it('need a key that encrypts the signing keys', () => {
    expect(() => loadConfig(sessionSettings, {})).toThrow('SESSION_KEK');
  });
});
